"""Libraries that tell a user what is no concern of theirs, silenced while we call them; errors still show."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

# torch's exporter says that torchvision is missing, the quantiser (by the root logger) that it could do more.
TALKATIVE = ("", "torch.onnx")


@contextmanager
def quiet() -> Iterator[None]:
    """No Python warnings and no log lines below ERROR from TALKATIVE inside; all as before afterwards."""
    loggers = [logging.getLogger(name) for name in TALKATIVE]
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
