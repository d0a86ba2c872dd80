"""JSON Lines: an object a line; see rows.py for its keys."""

from collections.abc import Iterator
from pathlib import Path

from index.errors import CorpusError
from index.formats.rows import row_sentences
from index.formats.sentence import Sentence, parse_json
from index.formats.streams import read_lines


def read(path: Path, language: str | None) -> Iterator[Sentence]:
    """Yield the sentences of every line. Raises CorpusError."""
    for number, line in read_lines(path):
        if line.strip():
            yield from row_sentences(path, number, number, _object(path, number, line), language)


def _object(path: Path, number: int, line: str) -> dict[str, object]:
    try:
        row = parse_json(line)
    except ValueError as error:
        raise CorpusError(f"{path}, line {number}: not JSON ({error}): one object a line") from error
    if not isinstance(row, dict):
        raise CorpusError(f"{path}, line {number}: {type(row).__name__}, not an object: one object a line")
    return row
