"""Document: the interface of a file with texts to translate, which each format implements."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import BinaryIO, Protocol

from index.errors import CorpusError, UsageError
from index.languages import lookup
from index.search.ranking import Match

LONGEST_DOCUMENT = 64 << 20  # bytes: a document is held in memory
LONGEST_TEXT = 1 << 16  # characters of a text in XML, where texts can be nested


class Unit(Protocol):
    """A text of a document that has no translation yet."""

    @property
    def text(self) -> str:
        """The text as it stands in the file."""

    @property
    def has_codes(self) -> bool:
        """Whether the text has inline elements, which a translation would have to repeat."""

    def fill(self, match: Match, *, fuzzy: bool) -> None:
        """Insert a match; a `fuzzy` one is marked, by the format's own means, as needing review."""


class Document(Protocol):
    """A file that was read."""

    @property
    def source(self) -> str | None:
        """The language of its texts, if the file states it."""

    @property
    def units(self) -> Sequence[Unit]:
        """The texts without a translation, in order."""

    @property
    def kept(self) -> int:
        """How many texts already have a translation, which is not changed."""

    @property
    def marks_fuzzy(self) -> bool:
        """Whether the format can mark a translation as fuzzy."""

    def write(self, file: BinaryIO) -> None:
        """Write the file with the translations inserted so far."""


def check_target(label: str, stated: str | None, target: str) -> None:
    """Raise UsageError if a document states another target language."""
    if stated and lookup(stated, [target]) is None and lookup(target, [stated]) is None:
        raise UsageError(f"{label}: its translations are in {stated}, not {target}: give --to {stated}")


def decoded(label: str, content: bytes) -> str:
    """UTF-8 text, with or without a byte order mark. Raises CorpusError."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CorpusError(f"{label}, line {line}: not UTF-8: save the file as UTF-8") from error


def with_edges(text: str, translation: str) -> str:
    """The translation, surrounded by the same white space as the text."""
    bare = text.strip()
    before, _, after = text.partition(bare) if bare else ("", "", "")
    return f"{before}{translation}{after}"


def suffix_of(name: str) -> str:
    """The extension of a file name, in lower case."""
    return PurePath(name).suffix.lower()
