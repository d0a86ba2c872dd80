"""Document: a file with texts to translate, edited in place: all but what is filled stays, byte for byte."""

import codecs
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from encodings.aliases import aliases
from typing import NamedTuple

from index.errors import CorpusError, UsageError
from index.languages import lookup

BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
# Python's codecs that are no character sets.
NO_CHARSETS = re.compile(r".*_codec|rot_13|mbcs|utf_7")


class Edit(NamedTuple):
    """The characters from `begin` up to `end` become `text`."""

    begin: int
    end: int
    text: str


class Filling(NamedTuple):
    """What a text is filled with; `fuzzy`: it needs review, since it translates `original`."""

    text: str
    fuzzy: bool = False
    original: str = ""
    forms: Sequence[str] = ()  # all plural forms, where the memory has them
    codes: str = ""  # the text with its inline codes as tags, where the memory has them


@dataclass(frozen=True)
class Unit:
    """A text without a translation, as translators read it; `edit` gives the edits that fill it.

    `adapt`, for a text with inline codes, puts them into a translation. The texts of one `message` are filled
    all or not at all. `wraps`: its lines are only as wide as they may be.
    """

    text: str
    edit: Callable[[Filling], Iterable[Edit]]
    context: str | None = None
    adapt: Callable[[Filling], Filling | None] | None = None
    message: str | None = None
    wraps: bool = False


@dataclass(frozen=True)
class Charset:
    """How the text of a file is written as bytes."""

    name: str = "utf-8"
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        return self.mark + text.encode(self.name)

    def holds(self, text: str) -> bool:
        """Whether a text can be written."""
        try:
            text.encode(self.name)
        except UnicodeEncodeError:
            return False
        return True


UTF_8 = Charset()


@dataclass
class Document:
    """A file that was read: its text, and the `units` that can be filled.

    `source` is the language that the file states; `kept` counts the texts that have a translation;
    `marks_fuzzy`: whether the format can mark a translation as fuzzy. The edits in `head` (target language
    and the like) are made with the first that fills a text.
    """

    text: str
    charset: Charset = UTF_8
    source: str | None = None
    units: list[Unit] = field(default_factory=list)
    kept: int = 0
    marks_fuzzy: bool = False
    head: list[Edit] = field(default_factory=list)
    edits: dict[tuple[int, int], str] = field(default_factory=dict)

    def fill(self, unit: Unit, filling: Filling) -> bool:
        """Fill a unit. False if its character set cannot hold the translation: the text stays as it is."""
        edits = list(unit.edit(filling))
        if not edits or not all(self.charset.holds(edit.text) for edit in edits):
            return False
        self.edits |= {(edit.begin, edit.end): edit.text for edit in edits}
        return True

    def content(self) -> bytes:
        """The file with the translations filled in so far; unchanged without any."""
        parts, end = [], 0
        edits = [Edit(*place, text) for place, text in self.edits.items()]
        for edit in sorted([*self.head, *edits] if edits else [], key=lambda edit: edit[:2]):
            parts += [self.text[end : edit.begin], edit.text]
            end = edit.end
        return self.charset.encode("".join([*parts, self.text[end:]]))


def decoded(label: str, content: bytes, charset: str = "utf-8") -> tuple[str, Charset]:
    """The text of a file with or without a byte order mark, and how it is written. Raises CorpusError."""
    marks = (mark for mark in BYTE_ORDER_MARKS if content.startswith(mark))
    mark = next(marks, b"")
    name = BYTE_ORDER_MARKS[mark] if mark else charset
    if not is_charset(name):
        raise CorpusError(f"{label}: charset {name[:40]!r} is not supported: save the file as UTF-8")
    try:
        text = content[len(mark) :].decode(name)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        said = "UTF-8" if name == "utf-8" else name
        raise CorpusError(f"{label}, line {line}: not {said}: save the file as UTF-8") from error
    written = Charset(name, mark)
    if not mark and name.lower() != "utf-8" and (not written.holds(text) or written.encode(text) != content):
        raise CorpusError(f"{label}: its charset {name} is ambiguous: save the file as UTF-8")
    return text, written


def is_charset(name: str) -> bool:
    """Whether a name is that of a character set: Python has other codecs, and keeps unknown names."""
    plain = re.sub(r"[^a-z0-9]+", "_", name[:40].lower())
    known = plain in aliases or plain in aliases.values()
    return known and not NO_CHARSETS.fullmatch(aliases.get(plain, plain))


def check_target(label: str, stated: str | None, target: str) -> None:
    """Raise UsageError if a document states another target language."""
    if stated and lookup(stated, [target]) is None and lookup(target, [stated]) is None:
        raise UsageError(f"{label}: its translations are in {stated}, not {target}: give --to {stated}")


def with_edges(text: str, translation: str) -> str:
    """The translation, surrounded by the same white space as the text."""
    bare = text.strip()
    before, _, after = text.partition(bare) if bare else ("", "", "")
    return f"{before}{translation}{after}"
