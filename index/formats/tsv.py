"""Tab- and comma-separated tables with a line of column names; see rows.py for the columns.

TSV has no quoting: a quotation mark is an ordinary character. CSV follows RFC 4180.
"""

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from index.errors import CorpusError
from index.formats.rows import row_sentences
from index.formats.sentence import Sentence
from index.formats.streams import LONGEST_LINE, read_lines
from index.text.normalisation import clean


def read_tsv(path: Path, language: str | None) -> Iterator[Sentence]:
    """Yield the sentences of a tab-separated table. Raises CorpusError."""
    names: list[str] = []
    for number, line in read_lines(path):
        cells = line.rstrip("\r\n").split("\t")
        if not names:
            names = _names(path, cells)
        elif line.strip():
            yield from row_sentences(path, number, number - 1, _row(path, number, names, cells), language)


def read_csv(path: Path, language: str | None) -> Iterator[Sentence]:
    """Yield the sentences of a comma-separated table. Raises CorpusError."""
    lines = _RecordLines(path)
    reader = csv.reader(lines, strict=True)
    names: list[str] = []
    number, begin = 0, 1
    try:
        for cells in reader:
            lines.length = 0
            if not names:
                names = _names(path, cells)
            elif cells:
                number += 1
                yield from row_sentences(path, begin, number, _row(path, begin, names, cells), language)
            begin = reader.line_num + 1
    except csv.Error as error:
        raise CorpusError(f"{path}, line {begin}: not CSV ({error}): quote cells as RFC 4180 says") from error


class _RecordLines:
    """The lines of a table; CorpusError where those of a record have more than LONGEST_LINE characters."""

    def __init__(self, path: Path) -> None:
        self._path, self._lines = path, read_lines(path)
        self.length = 0  # of the record so far

    def __iter__(self) -> Iterator[str]:
        for number, line in self._lines:
            self.length += len(line)
            if self.length > LONGEST_LINE:
                raise CorpusError(
                    f"{self._path}, line {number}: a row longer than {LONGEST_LINE} characters: "
                    "close its quotation marks"
                )
            yield line


def write_tsv(file: TextIO, units: Iterable[list[Sentence]]) -> None:
    """Write groups of sentences, one sentence a row, with metadata as a JSON object."""
    file.write("language\tid\tgroup\ttext\tmetadata\n")
    for unit in units:
        for sentence in unit:
            cells = (sentence.language, sentence.id, sentence.group or "", sentence.text, _json(sentence))
            file.write("\t".join(map(clean, cells)) + "\n")


def _json(sentence: Sentence) -> str:
    return json.dumps(dict(sentence.metadata), ensure_ascii=False) if sentence.metadata else ""


def _names(path: Path, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    if len(set(names)) != len(names):
        raise CorpusError(
            f"{path}, line 1: a column is named twice: the first line names the columns, each once"
        )
    return names


def _row(path: Path, line: int, names: list[str], cells: list[str]) -> dict[str, str]:
    if len(cells) != len(names):
        raise CorpusError(
            f"{path}, line {line}: {len(cells)} cells, but line 1 names {len(names)}: mend the line"
        )
    return dict(zip(names, cells, strict=True))
