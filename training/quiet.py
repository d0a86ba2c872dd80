"""Silences warnings of libraries that do not concern the user; errors still show."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

# torch's exporter warns that torchvision is missing; the quantiser (by the root logger) gives advice.
QUIET_LOGGERS = ("", "torch.onnx")


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress Python warnings, and log lines below ERROR of QUIET_LOGGERS, until the context ends."""
    loggers = [logging.getLogger(name) for name in QUIET_LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
