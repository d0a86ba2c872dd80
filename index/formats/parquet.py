"""Parquet, read a batch at a time; see rows.py for its columns."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from index.errors import CorpusError
from index.formats.rows import row_sentences
from index.formats.sentence import Sentence
from index.formats.streams import ALWAYS_ALLOWED, RATIO

BATCH = 1024  # rows at a time
STRINGS = 16 << 20  # bytes of a string in the file's own description


def read(path: Path, language: str | None) -> Iterator[Sentence]:
    """`line` is the row, from 1."""
    number = 0
    try:
        with parquet.ParquetFile(path, thrift_string_size_limit=STRINGS, pre_buffer=False) as file:
            _check_size(path, file.metadata)
            for batch in file.iter_batches(BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield from row_sentences(path, number, number, _plain(row), language)
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or error
        raise CorpusError(
            f"{path}, after row {number}: cannot be read as Parquet ({reason}): write it again"
        ) from error


def _check_size(path: Path, metadata: Any) -> None:  # noqa: ANN401 (pyarrow is untyped)
    size = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    if size > max(ALWAYS_ALLOWED, RATIO * path.stat().st_size):
        raise CorpusError(f"{path}: grows to more than {RATIO} times its size: write it without compression")


def _plain(value: Any) -> Any:  # noqa: ANN401 (a value of any column)
    """What JSON can hold: dates as ISO 8601, bytes as Base64."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
