"""Parquet, read a batch at a time; see rows.py for its columns."""

import base64
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from index.errors import CorpusError
from index.formats.rows import AS_NAMED, renamed, row_sentences
from index.formats.sentence import BadUnit, Sentence, whole
from index.formats.streams import ALWAYS_ALLOWED, RATIO

ROWS_READ = 64  # at a time
LONGEST_ROWS = 64 << 20  # bytes of as many: a dictionary lets a short file repeat a long value
LONGEST_STRING = 16 << 20  # bytes, in the file's Thrift metadata


def read(
    path: Path, language: str | None, columns: Mapping[str, str] = AS_NAMED
) -> Iterator[Sentence | BadUnit]:
    """Yield the sentences of every row; `line` is the row, from 1. Raises CorpusError."""
    number = 0
    try:
        with parquet.ParquetFile(path, thrift_string_size_limit=LONGEST_STRING, pre_buffer=False) as file:
            _check_size(path, file.metadata)
            for batch in file.iter_batches(ROWS_READ):
                if sum(map(_decoded_bytes, batch.columns)) > LONGEST_ROWS:
                    raise CorpusError(
                        f"{path}, after row {number}: a longer value than a text has: leave it out"
                    )
                for row in batch.to_pylist():
                    number += 1
                    values = renamed(_json_value(row), columns)
                    yield from whole(partial(row_sentences, path, number, number, values, language))
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or error
        raise CorpusError(
            f"{path}, after row {number}: cannot be read as Parquet ({reason}): write it again"
        ) from error


def _check_size(path: Path, metadata: Any) -> None:  # noqa: ANN401 (pyarrow is untyped)
    size = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    # A run of equal values is a few bytes, however long it is.
    if max(size, metadata.num_rows) > max(ALWAYS_ALLOWED, RATIO * path.stat().st_size):
        raise CorpusError(f"{path}: grows to more than {RATIO} times its size: write it without compression")


def _decoded_bytes(column: Any) -> int:  # noqa: ANN401 (pyarrow is untyped)
    return int((column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column).nbytes)


def _json_value(value: Any) -> Any:  # noqa: ANN401 (a value of any column)
    """Convert a value to what JSON can hold: dates to ISO 8601, bytes to Base64."""
    if isinstance(value, dict):
        return {name: _json_value(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_json_value(item) for item in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
