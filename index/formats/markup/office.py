"""DOCX and XLSX (Office Open XML): the paragraphs of a document; a workbook as a table, or cell by cell.

A filled paragraph has its translation in its first run; where runs differ in their looks, it is fuzzy. In a
table, the empty cells of the column of the target language are filled. All other parts of the file, and the
order in which they are packed, stay.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial, reduce
from pathlib import Path
from shutil import copyfileobj
from typing import IO

from index.errors import CorpusError, UsageError
from index.formats.document import Document, Edit, Filling, Unit
from index.formats.markup import xml
from index.formats.rows import AS_NAMED, language_of, row_sentences
from index.formats.sentence import CONTEXT, BadUnit, RecordNumber, Sentence, whole
from index.formats.streams import READ_BYTES, read_whole
from index.formats.tsv import column_names
from index.languages import lookup

MARKS_A_TEXT, BYTES_A_TEXT = 30, 800  # tags, attributes and entities: more than most paragraphs and rows have
LONGEST_PARTS = 64 << 20  # bytes, unpacked
MOST_REPEATED = 4  # times as long as its parts may be what all cells of a sheet say: they share texts
# The parts with texts, by their names: the root of each, and the elements of a text.
PARTS = {
    "word/document.xml": ("document", "p"),
    "word/header*.xml": ("hdr", "p"),
    "word/footer*.xml": ("ftr", "p"),
    "word/footnotes.xml": ("footnotes", "p"),
    "word/endnotes.xml": ("endnotes", "p"),
    "xl/sharedStrings.xml": ("sst", "si"),
    "xl/worksheets/sheet*": ("worksheet", "is"),
}
STRINGS, SHEETS = "xl/sharedStrings.xml", "xl/worksheets/sheet"
PLAIN_NUMBER = re.compile(r"[0-9]{1,9}")

Row = tuple[int, xml.Element, dict[int, str]]  # its number, itself, and its texts by column


@dataclass
class Office(Document):
    """A packed file, of which some parts are edited: those of the units, each with its name."""

    packed: bytes = b""
    label: str = ""
    parts: dict[Unit, tuple[str, Document]] = field(default_factory=dict)

    def fill(self, unit: Unit, filling: Filling) -> bool:
        """Fill a unit in its part."""
        return self.parts[unit][1].fill(unit, filling)

    def content(self) -> bytes:
        """The file with the translations filled in so far; unchanged without any. Raises CorpusError."""
        edited = {name: part for name, part in self.parts.values() if part.edits}
        if not edited:
            return self.packed
        written = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(self.packed)) as before, zipfile.ZipFile(written, "w") as after:
            after.comment = before.comment
            for entry in before.infolist():
                with _opened(before, entry, self.label) as part, after.open(copy(entry), "w") as kept:
                    if entry.filename in edited:
                        kept.write(edited[entry.filename].content())
                    else:
                        copyfileobj(part, kept)
        return written.getvalue()


@dataclass(frozen=True)
class Paragraph:
    """A paragraph or cell: its text, and the <t> elements that hold it, of runs that look alike or not."""

    text: str
    runs: list[xml.Element]
    looks: set[str]
    has_field: bool  # some of it is computed, such as the number of the page


def read(path: Path, language: str | None) -> Iterator[Sentence | BadUnit]:
    """Yield the paragraphs of a document in `language`. Raises CorpusError."""
    if language is None:
        raise CorpusError(f"{path}: it does not say its language: give it as --corpus LANG={path}")
    parts = _parts(read_whole(path), str(path))
    for number, (_, _, found) in enumerate(_paragraphs(parts, str(path)), start=1):
        yield Sentence(RecordNumber(number), found.text, language, number)


def read_table(
    path: Path, language: str | None, columns: Mapping[str, str] = AS_NAMED
) -> Iterator[Sentence | BadUnit]:
    """Yield the sentences of the first sheet; its first row names the columns. Raises CorpusError."""
    parts = _parts(read_whole(path), str(path))
    names: list[str] = []
    left = MOST_REPEATED * sum(map(len, parts.values()))
    rows = next((rows for _, _, rows in _sheets(parts, str(path))), iter(()))
    for number, (line, _, cells) in enumerate(rows):
        left -= sum(map(len, cells.values()))
        if left < 0:
            raise CorpusError(f"{path}: many cells repeat long texts: save it as CSV")
        if not names:
            names = column_names(
                path, [cells.get(place, "") for place in range(max(cells, default=0) + 1)], columns
            )
        elif cells:
            values = {name: cells[place] for place, name in enumerate(names) if place in cells}
            yield from whole(row_sentences(path, line, number, values, language))


def _sheets(parts: Mapping[str, bytes], label: str) -> Iterator[tuple[str, Document, Iterator[Row]]]:
    """The sheets of a workbook by name, each with its rows."""
    strings = _elements(parts, STRINGS, label)[1] if STRINGS in parts else ()
    shared = [_text("", element).text for element in strings]
    for name in sorted(parts, key=lambda name: (len(name), name)):
        if name.startswith(SHEETS):
            part, rows = _elements(parts, name, label, "row")
            yield name, part, (_row(row, number, shared) for number, row in enumerate(rows, start=1))


def _row(row: xml.Element, number: int, shared: Sequence[str]) -> Row:
    cells = {place: text for place, cell in _cells(row) if (text := _value(cell, shared))}
    return _number(row.get("r"), number), row, cells


def _cells(row: xml.Element) -> Iterator[tuple[int, xml.Element]]:
    """The cells of a row by column: 0 for A, 26 for AA; one that names none is beside the last one."""
    place = -1
    for cell in row.elements("c"):
        letters = re.sub("[^A-Z]", "", cell.get("r") or "")[:3]
        numbers = (ord(letter) - ord("A") + 1 for letter in letters)
        place = reduce(lambda high, low: 26 * high + low, numbers) - 1 if letters else place + 1
        yield place, cell


def _value(cell: xml.Element, shared: Sequence[str]) -> str:
    value, inline = cell.first("v"), cell.first("is")
    text = value.text if value else _text("", inline).text if inline else ""
    if cell.get("t") == "s":
        place = _number(text, len(shared))
        return shared[place] if place < len(shared) else ""
    return text


def _number(text: str | None, otherwise: int) -> int:
    """The number of a row or a shared string; `otherwise` for what is none."""
    return int(text) if text and PLAIN_NUMBER.fullmatch(text) else otherwise


def open_document(content: bytes, label: str, target: str) -> Document:
    """Read a file to be filled: the column `target` of its tables, sheets with columns by language, from the
    first other one; without tables, all texts. Raises CorpusError, UsageError for a table without the two.
    """
    parts = _parts(content, label)
    document = Office("", packed=content, label=label)
    for name, part, rows in _sheets(parts, label):
        _add_table(document, name, part, rows, target)
    for name, part, found in _paragraphs(parts, label) if document.source is None else ():
        edit, adapt = partial(_filled, part, found), partial(_adapted, found)
        document.parts[Unit(found.text, edit, adapt=adapt)] = name, part
    document.units += document.parts
    return document


def _add_table(document: Office, name: str, part: Document, rows: Iterator[Row], target: str) -> None:
    """Add the rows of a sheet that have no text in the column of `target`, if it is a table."""
    names = {place: text.strip() for place, text in next(rows, (0, None, {}))[2].items()}
    codes = {place: code for place, text in names.items() if (code := language_of(text))}
    own = next((place for place, code in codes.items() if lookup(code, [target])), None)
    others = [place for place, code in codes.items() if place != own]
    if own is None and len(codes) < 2:
        return
    if own is None or not others:
        needs = f"a column {target} to fill, and one in another language"
        raise UsageError(f"{document.label}: a table in {', '.join(codes.values())}: name in it {needs}")
    theirs, document.source = others[0], document.source or codes[others[0]]
    for number, row, cells in rows:
        cell = dict(_cells(row)).get(own)
        if cells.get(own, "").strip() or (cell and cell.first("f")):
            document.kept += 1
        elif cells.get(theirs, "").strip():
            context = next((cells[place] for place in cells if names.get(place) == CONTEXT), None)
            edit = partial(_filled_cell, part, row, number, own)
            document.parts[Unit(cells[theirs], edit, context)] = name, part


def _filled_cell(part: Document, row: xml.Element, number: int, own: int, filling: Filling) -> Iterator[Edit]:
    """Yield the edit that fills the cell of a column, or adds it after those before it."""
    prefix = part.text[row.begin + 1 : row.inner].partition("row")[0]  # of a namespace
    text = xml.escaped(filling.text, part.charset)
    content = f'<{prefix}is><{prefix}t xml:space="preserve">{text}</{prefix}t></{prefix}is>'
    cells = dict(_cells(row))
    if own in cells:
        yield from xml.rewritten(part.text, cells[own], content, {"t": "inlineStr"})
    else:
        end = max((cell.end for place, cell in cells.items() if place < own), default=row.inner)
        yield Edit(end, end, f'<{prefix}c r="{_letters(own)}{number}" t="inlineStr">{content}</{prefix}c>')


def _letters(place: int) -> str:  # as `_cells` reads them
    return (_letters(place // 26 - 1) if place > 25 else "") + chr(ord("A") + place % 26)


def _paragraphs(parts: Mapping[str, bytes], label: str) -> Iterator[tuple[str, Document, Paragraph]]:
    """The paragraphs or strings, each with its part. A paragraph may have others within it: in a text box."""
    for name in parts:
        part, elements = _elements(parts, name, label)
        for element in elements:
            for row in (element, *element.within(element.name)):
                if (found := _text(part.text, row)).text.strip():
                    yield name, part, found


def _parts(content: bytes, label: str, longest: int = LONGEST_PARTS) -> dict[str, bytes]:
    """The parts that have texts, by name, of `longest` bytes together. Raises CorpusError."""
    try:
        packed = zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise _unreadable(label, error) from error
    with packed:
        entries = packed.infolist()
        if sum(entry.file_size for entry in entries) > LONGEST_PARTS:
            raise CorpusError(f"{label}: longer than {LONGEST_PARTS} bytes unpacked: divide it")
        entries = [entry for pattern in PARTS for entry in entries if fnmatchcase(entry.filename, pattern)]
        if not entries:
            raise CorpusError(f"{label}: no paragraphs or shared strings in it: save it in an office program")
        if sum(entry.file_size for entry in entries) > longest:
            raise CorpusError(f"{label}: texts longer than {longest} bytes unpacked: divide it")
        parts = {}
        for entry in entries:
            with _opened(packed, entry, label) as part:
                parts[entry.filename] = b"".join(iter(partial(part.read, READ_BYTES), b""))
        return parts


@contextmanager
def _opened(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, label: str) -> Iterator[IO[bytes]]:
    """A part, of as many bytes as it says at most, to be read block by block. Raises CorpusError.

    `ZipFile.read` unpacks all that is there before it counts; other methods than deflate always do.
    """
    try:
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise zipfile.BadZipFile(f"{entry.filename} is not packed as Office packs")
        with packed.open(entry) as part:
            yield part
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise _unreadable(label, error) from error


def _unreadable(label: str, error: Exception) -> CorpusError:
    return CorpusError(f"{label}: cannot be unpacked ({error}): save it again")


def check_tags(content: bytes, label: str, most_texts: int) -> None:
    """Raise UsageError for a file with far more elements or bytes than texts: all are held in memory."""
    parts = _parts(content, label, BYTES_A_TEXT * most_texts).values()
    if sum(part.count(mark) for part in parts for mark in b"<=&") > MARKS_A_TEXT * most_texts:
        raise UsageError(f"{label}: more elements than {most_texts} texts need: divide it")


def _elements(
    parts: Mapping[str, bytes], name: str, label: str, tag: str | None = None
) -> tuple[Document, list[xml.Element]]:
    """A part, and its elements that are texts, or are called otherwise."""
    root, text_tag = next(kind for pattern, kind in PARTS.items() if fnmatchcase(name, pattern))
    text, charset, elements = xml.document(parts[name], f"{label}, {name}", root, (tag or text_tag,))
    return Document(text, charset), elements


def _text(source: str, element: xml.Element) -> Paragraph:
    holders = (element, *element.within("r", outside=element.name))
    pieces = [(piece, run) for run in holders for piece in run.elements("t", "tab", "br", "cr")]
    runs = [(piece, run.first("rPr")) for piece, run in pieces if piece.name == "t"]
    looks = {source[look.begin : look.end] if look else "" for _, look in runs}
    lines = "".join(piece.text if piece.name == "t" else "\0" for piece, _ in pieces).split("\0")
    has_field = bool(runs) and any(
        next(element.within(name, element.name), None) for name in ("fldChar", "fldSimple")
    )
    return Paragraph(" ".join(filter(None, lines)), [piece for piece, _ in runs], looks, has_field)


def _adapted(found: Paragraph, filling: Filling) -> Filling | None:
    return None if found.has_field else filling._replace(fuzzy=filling.fuzzy or len(found.looks) > 1)


def _filled(part: Document, found: Paragraph, filling: Filling) -> Iterator[Edit]:
    first, *others = found.runs
    content = xml.escaped(filling.text, part.charset)
    yield from xml.rewritten(part.text, first, content, {"xml:space": "preserve"})
    for run in others:
        yield from xml.rewritten(part.text, run, "")
