"""Tab- and comma-separated tables with a line of column names; see rows.py for the columns.

In TSV a quotation mark is an ordinary character, except where Excel has doubled it. CSV follows RFC 4180,
with commas, semicolons or tabs.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TextIO

from index.errors import CorpusError
from index.formats.rows import AS_NAMED, row_sentences
from index.formats.sentence import BadUnit, Sentence, UnitError, whole
from index.formats.streams import LONGEST_LINE, read_good_lines
from index.text.normalisation import clean

DELIMITERS = ",;\t"  # the most frequent one in the header counts; the first of equally frequent ones
EXCEL_DELIMITER = re.compile(r"sep=(.)\r?\n?")


def read_tsv(
    path: Path, language: str | None, columns: Mapping[str, str] = AS_NAMED, encoding: str | None = None
) -> Iterator[Sentence | BadUnit]:
    """Yield the sentences of a tab-separated table; `columns` as in rows.py. Raises CorpusError."""
    names: list[str] = []
    for number, line in read_good_lines(path, encoding):
        if isinstance(line, BadUnit):
            yield line
        elif line.strip() or not names:
            cells = [_unquoted(cell) for cell in line.rstrip("\r\n").split("\t")]
            if names:
                yield from whole(_sentences(path, number, number - 1, names, cells, language))
            names = names or column_names(path, cells, columns)


def read_csv(
    path: Path, language: str | None, columns: Mapping[str, str] = AS_NAMED, encoding: str | None = None
) -> Iterator[Sentence | BadUnit]:
    """Yield the sentences of a table with commas, semicolons or tabs; otherwise as `read_tsv` does."""
    lines = _RecordLines(path, encoding)
    reader = csv.reader(lines, delimiter=lines.delimiter, strict=True)
    names: list[str] = []
    number = 0
    while True:
        begin = lines.begin_record()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield BadUnit(begin, f"not CSV ({error}): quote cells as RFC 4180 says")
            continue
        except UnitError as error:
            yield error.unit
            continue
        if cells is None:
            return
        if not names:
            names = column_names(path, cells, columns)
        elif cells:
            number += 1
            yield from whole(_sentences(path, begin, number, names, cells, language))


class _RecordLines:
    """The lines of a table, for csv.reader. Raises UnitError for a malformed line or too long a record.

    The delimiter is stated by a first line such as `sep=;` (Excel), or else the most frequent in the header.
    """

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self._path, self._lines = path, read_good_lines(path, encoding)
        self._length = 0  # of the record so far
        self._number = 0
        first = self._next_line()
        stated = EXCEL_DELIMITER.fullmatch(first)
        self._header = None if stated else first
        self.delimiter = stated[1] if stated else max(DELIMITERS, key=first.count)

    def begin_record(self) -> int:
        """Begin a record; returns the number of its first line."""
        self._length = 0
        return self._number + 1 if self._header is None else self._number

    def __iter__(self) -> "_RecordLines":
        return self

    def __next__(self) -> str:
        line, self._header = self._header, None
        if line is None:
            line = self._next_line()
        if not line:
            raise StopIteration
        self._length += len(line)
        if self._length > LONGEST_LINE:
            raise UnitError(
                self._path,
                self._number,
                f"a row longer than {LONGEST_LINE} characters: close its quotation marks",
            )
        return line

    def _next_line(self) -> str:
        """The next line; "" at the end."""
        number, line = next(self._lines, (self._number, ""))
        self._number = number
        if isinstance(line, BadUnit):
            raise UnitError(self._path, number, line.reason)
        return line


def _sentences(
    path: Path, line: int, number: int, names: list[str], cells: list[str], language: str | None
) -> Iterator[Sentence]:
    if len(cells) != len(names):
        raise UnitError(path, line, f"{len(cells)} cells, but line 1 names {len(names)}: fix the line")
    yield from row_sentences(path, line, number, dict(zip(names, cells, strict=True)), language)


def _unquoted(cell: str) -> str:
    """Undo the quoting of Excel, which quotes cells that contain quotation marks and doubles these."""
    inner = cell[1:-1]
    if len(cell) > 3 and cell[0] == cell[-1] == '"' and '""' in inner and '"' not in inner.replace('""', ""):
        return inner.replace('""', '"')
    return cell


def write_tsv(file: TextIO, units: Iterable[list[Sentence]]) -> None:
    """Write groups of sentences, one sentence a row, with metadata as a JSON object."""
    file.write("language\tid\tgroup\ttext\tmetadata\n")
    for unit in units:
        for sentence in unit:
            metadata = json.dumps(dict(sentence.metadata)) if sentence.metadata else ""
            cells = (sentence.language, sentence.id, sentence.group or "", clean(sentence.text), metadata)
            file.write("\t".join(map(_cell, cells)) + "\n")


def _cell(text: str) -> str:
    """A text as a cell, quoted where it would be read as quoted."""
    text = re.sub(r"[\t\r\n]", " ", text)
    return text if _unquoted(text) == text else '"' + text.replace('"', '""') + '"'


def column_names(path: Path, cells: list[str], columns: Mapping[str, str]) -> list[str]:
    """The meanings of the columns that line 1 names. Raises CorpusError."""
    if missing := [name for name in columns if name not in {cell.strip() for cell in cells}]:
        raise CorpusError(f"{path}, line 1: no column {missing[0]!r}: there are {', '.join(cells)}")
    names = [columns.get(cell.strip(), cell.strip()) for cell in cells]
    named = list(filter(None, names))  # spreadsheets write empty columns, too
    if len(set(named)) != len(named):
        raise CorpusError(
            f"{path}, line 1: a column is named twice: the first line names the columns, each once"
        )
    return names
