"""DOCX and XLSX (Office Open XML): the paragraphs of a document; a workbook as a table, or cell by cell.

A filled paragraph has its translation in its first run; where runs differ in their looks, it is fuzzy. All
other parts of the file, and the order in which they are packed, stay.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from shutil import copyfileobj
from typing import IO

from index.errors import CorpusError, UsageError
from index.formats.document import UTF_8, Charset, Document, Edit, Filling, Unit
from index.formats.markup import xml
from index.formats.rows import AS_NAMED, language_of, row_sentences
from index.formats.sentence import BadUnit, Sentence, whole
from index.formats.streams import READ_BYTES, read_whole
from index.formats.tsv import column_names

MARKS_A_TEXT, BYTES_A_TEXT = 30, 800  # tags, attributes and entities: more than most paragraphs and rows have
LONGEST_PARTS = 64 << 20  # bytes, unpacked
MOST_REPEATED = 4  # times as long as its parts may be what all cells of a sheet say: they share texts
# A part with texts: its root, and the elements of a text.
WORD = ("word/document.xml", "document", "p")
SHEET = ("xl/sharedStrings.xml", "sst", "si")
SHEETS = "xl/worksheets/sheet"
PLAIN_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass
class Office(Document):
    """A packed file, of which one part is edited."""

    packed: bytes = b""
    part: str = ""
    label: str = ""

    def content(self) -> bytes:
        """The file with the translations filled in so far; unchanged without any. Raises CorpusError."""
        if not self.edits:
            return self.packed
        written = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(self.packed)) as before, zipfile.ZipFile(written, "w") as after:
            after.comment = before.comment
            for entry in before.infolist():
                with _opened(before, entry, self.label) as part, after.open(copy(entry), "w") as kept:
                    if entry.filename == self.part:
                        kept.write(super().content())
                    else:
                        copyfileobj(part, kept)
        return written.getvalue()


@dataclass(frozen=True)
class Paragraph:
    """A paragraph or cell: its text, and the <t> elements that hold it, of runs that look alike or not."""

    text: str
    runs: list[xml.Element]
    looks: set[str]


def read(path: Path, language: str | None) -> Iterator[Sentence | BadUnit]:
    """Yield the paragraphs of a document in `language`. Raises CorpusError."""
    if language is None:
        raise CorpusError(f"{path}: it does not say its language: give it as --corpus LANG={path}")
    for number, found in enumerate(_document(read_whole(path), str(path))[1], start=1):
        yield Sentence(str(number), found.text, language, number)


def read_table(
    path: Path, language: str | None, columns: Mapping[str, str] = AS_NAMED
) -> Iterator[Sentence | BadUnit]:
    """Yield the sentences of the first sheet; its first row names the columns. Raises CorpusError."""
    parts = _parts(read_whole(path), str(path))
    names: list[str] = []
    left = MOST_REPEATED * sum(map(len, parts.values()))
    for number, (line, cells) in enumerate(_rows(parts, str(path))):
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


def _rows(parts: dict[str, bytes], label: str) -> Iterator[tuple[int, dict[int, str]]]:
    """The rows of the first sheet: the number of each, and its texts by column."""
    sheets = sorted((name for name in parts if name.startswith(SHEETS)), key=lambda name: (len(name), name))
    shared = [_text("", element).text for element in _elements(parts, *SHEET, label)[2]]
    for number, row in enumerate(
        _elements(parts, next(iter(sheets), ""), "worksheet", "row", label)[2], start=1
    ):
        cells = {place: text for place, cell in _cells(row) if (text := _value(cell, shared))}
        yield _number(row.get("r"), number), cells


def _cells(row: xml.Element) -> Iterator[tuple[int, xml.Element]]:
    """The cells of a row by column: 0 for A, 26 for AA; one that names none is beside the last one."""
    place = -1
    for cell in row.elements("c"):
        letters = re.sub("[^A-Z]", "", cell.get("r") or "")[:3]
        numbers = (ord(letter) - ord("A") + 1 for letter in letters)
        place = reduce(lambda high, low: 26 * high + low, numbers) - 1 if letters else place + 1
        yield place, cell


def _value(cell: xml.Element, shared: list[str]) -> str:
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
    """Read a file to be filled. Raises CorpusError, UsageError for a table in several languages."""
    parts = _parts(content, label)
    rows = _rows(parts, label) if any(name.startswith(SHEETS) for name in parts) else iter(())
    _, head = next(rows, (0, {}))
    if len(codes := list(filter(None, map(language_of, head.values())))) > 1:
        raise UsageError(f"{label}: a table in {', '.join(codes)}: copy only the texts to another workbook")
    document, texts = _document(content, label)
    for found in texts:
        adapt = partial(_adapted, len(found.looks) > 1)
        document.units.append(Unit(found.text, partial(_filled, document, found), adapt=adapt))
    return document


def _document(content: bytes, label: str) -> tuple[Office, list[Paragraph]]:
    parts = _parts(content, label)
    cells = ((part, "worksheet", "is") for part in parts if len(parts) == 1)  # of a single sheet
    part, root, tag = next((kind for kind in (WORD, SHEET, *cells) if kind[0] in parts), WORD)
    text, charset, elements = _elements(parts, part, root, tag, label)
    # A paragraph may have others within it: those of a text box.
    found = (_text(text, row) for element in elements for row in (element, *element.within(tag)))
    document = Office(text, charset, packed=content, part=part, label=label)
    return document, [row for row in found if row.text.strip()]


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
        entries = [
            entry
            for entry in entries
            if entry.filename in (WORD[0], SHEET[0]) or entry.filename.startswith(SHEETS)
        ]
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
    parts: dict[str, bytes], name: str, root: str, tag: str, label: str
) -> tuple[str, Charset, list[xml.Element]]:
    if name not in parts and name == SHEET[0]:
        return "", UTF_8, []  # all texts are in the cells
    if name not in parts:
        raise CorpusError(f"{label}: no paragraphs or shared strings in it: save it in an office program")
    return xml.document(parts[name], f"{label}, {name}", root, (tag,))


def _text(source: str, element: xml.Element) -> Paragraph:
    holders = (element, *element.within("r", outside=element.name))
    pieces = [(piece, run) for run in holders for piece in run.elements("t", "tab", "br", "cr")]
    runs = [(piece, run.first("rPr")) for piece, run in pieces if piece.name == "t"]
    looks = {source[look.begin : look.end] if look else "" for _, look in runs}
    lines = "".join(piece.text if piece.name == "t" else "\0" for piece, _ in pieces).split("\0")
    return Paragraph(" ".join(filter(None, lines)), [piece for piece, _ in runs], looks)


def _adapted(differ: bool, filling: Filling) -> Filling:
    return filling._replace(fuzzy=filling.fuzzy or differ)


def _filled(document: Document, found: Paragraph, filling: Filling) -> Iterator[Edit]:
    first, *others = found.runs
    content = xml.escaped(filling.text, document.charset)
    yield from xml.rewritten(document.text, first, content, {"xml:space": "preserve"})
    for run in others:
        yield from xml.rewritten(document.text, run, "")
