"""Document: a file with texts to translate, and what its format does with a translation."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import BinaryIO, Protocol

from index.errors import CorpusError, UsageError
from index.formats.registry import lookup
from index.search.ranking import Match

LONGEST_DOCUMENT = 64 << 20  # bytes: a document is held in memory
LONGEST_TEXT = 1 << 16  # characters of one in XML, where texts may be within texts


class Unit(Protocol):
    """A text of a document that has no translation yet."""

    @property
    def text(self) -> str:
        """The text as it stands in the file."""

    @property
    def has_codes(self) -> bool:
        """Whether there are inline elements in it, which a translation would have to repeat."""

    def fill(self, match: Match, *, fuzzy: bool) -> None:
        """Put the match in; `fuzzy`: marked, by the format's own means, as one that a person has to check."""


class Document(Protocol):
    """A file that was read."""

    @property
    def source(self) -> str | None:
        """The language of its texts, where it says so."""

    @property
    def units(self) -> Sequence[Unit]:
        """The texts without a translation, in order."""

    @property
    def kept(self) -> int:
        """How many texts have a translation already, which is not changed."""

    @property
    def marks_fuzzy(self) -> bool:
        """Whether the format can mark a translation as fuzzy."""

    def write(self, file: BinaryIO) -> None:
        """Write the file as it is now."""


def check_target(label: str, stated: str | None, target: str) -> None:
    """Raise UsageError if a document states that it is translated into another language."""
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
    """The translation with the white space that the text begins and ends with."""
    bare = text.strip()
    before, _, after = text.partition(bare) if bare else ("", "", "")
    return f"{before}{translation}{after}"


def suffix_of(name: str) -> str:
    """The extension of a file name, in lower case."""
    return PurePath(name).suffix.lower()
