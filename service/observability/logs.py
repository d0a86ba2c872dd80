"""Logging: one line for each message, as text or as JSON, never with the texts of requests.

A message may have fields: `log.info("request", extra={"fields": {...}})`.
"""

import json
import logging
import traceback
from datetime import UTC, datetime
from typing import Any


class JsonLines(logging.Formatter):
    """Formats a message as a JSON object: time, level, logger, message, and its fields."""

    def format(self, record: logging.LogRecord) -> str:
        document: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        document |= getattr(record, "fields", {})
        if record.exc_info:
            document["traceback"] = self.formatException(record.exc_info)
        return json.dumps(document, ensure_ascii=True, default=str)


class TextLines(logging.Formatter):
    """Formats a message as `LEVEL: message name=value ...`; control characters are escaped."""

    def __init__(self) -> None:
        super().__init__("%(levelname)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", {})
        parts = [super().formatMessage(record), *(f"{name}={value}" for name, value in fields.items())]
        return "".join(c if c.isprintable() else repr(c)[1:-1] for c in " ".join(parts))


def logging_config(style: str, level: str) -> dict[str, Any]:
    """The configuration for logging.config.dictConfig and uvicorn, which logs everything to stderr."""
    logger = {"handlers": ["stderr"], "level": level.upper(), "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "lines": {"()": f"service.observability.logs.{'JsonLines' if style == 'json' else 'TextLines'}"}
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines"}},
        "loggers": {"uvicorn": logger, "passepartout": logger},
    }


def log_exception(logger: logging.Logger, error: Exception, fields: dict[str, object]) -> None:
    """Log the type and location of an exception without its message, which may contain user data."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    logger.error("fault", extra={"fields": fields | {"error": type(error).__name__, "at": places}})
