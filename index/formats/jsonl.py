"""JSON Lines: an object a line; see rows.py for its keys."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from index.formats.rows import AS_NAMED, row_sentences
from index.formats.sentence import BadUnit, Sentence, UnitError, parse_json, whole
from index.formats.streams import read_good_lines


def read(
    path: Path, language: str | None, columns: Mapping[str, str] = AS_NAMED, encoding: str | None = None
) -> Iterator[Sentence | BadUnit]:
    """Yield the sentences of every line; `columns` as in rows.py."""
    for number, line in read_good_lines(path, encoding):
        if isinstance(line, BadUnit):
            yield line
        elif line.strip():
            yield from whole(_sentences(path, number, line, language, columns))


def _sentences(
    path: Path, number: int, line: str, language: str | None, columns: Mapping[str, str]
) -> Iterator[Sentence]:
    try:
        row = parse_json(line)
    except ValueError as error:
        raise UnitError(path, number, f"not JSON ({error}): give one object per line") from error
    if not isinstance(row, dict):
        raise UnitError(path, number, f"{type(row).__name__}, not an object: give one object per line")
    values = {columns.get(name, name): value for name, value in row.items()}
    yield from row_sentences(path, number, number, values, language)
