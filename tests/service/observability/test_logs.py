"""Log lines: one a message, whatever is in it."""

import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as some

from service.observability.logs import JsonLines, TextLines


def record(message: str, **fields: object) -> logging.LogRecord:
    made = logging.LogRecord("passepartout.x", logging.WARNING, "file", 1, message, None, None)
    made.fields = fields
    return made


@given(message=some.text(), value=some.text() | some.integers())
def test_a_message_is_one_line(message: str, value: object) -> None:
    for formatter in (JsonLines(), TextLines()):
        assert len(formatter.format(record(message, value=value)).splitlines()) == 1


def test_a_json_line_has_the_common_fields_and_its_own() -> None:
    told = json.loads(JsonLines().format(record("fault", status=500)))
    assert told.pop("time").endswith("+00:00")
    assert told == {"level": "warning", "logger": "passepartout.x", "message": "fault", "status": 500}


@pytest.mark.parametrize("formatter", [JsonLines(), TextLines()])
def test_a_traceback_is_kept(formatter: logging.Formatter) -> None:
    made = record("fault")
    try:
        raise ValueError("reason")
    except ValueError as error:
        made.exc_info = (ValueError, error, error.__traceback__)
    assert "ValueError: reason" in formatter.format(made)


def test_a_text_line_is_for_reading() -> None:
    assert TextLines().format(record("request", status=200)) == "WARNING: request status=200"
