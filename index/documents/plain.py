"""Plain text, one text on each line. It cannot mark a translation as fuzzy."""

from dataclasses import dataclass
from typing import BinaryIO

from index.documents.document import decoded, with_edges
from index.search.ranking import Match


@dataclass(slots=True)
class Line:
    """A line and its translation."""

    text: str
    translation: str = ""
    has_codes: bool = False

    def fill(self, match: Match, *, fuzzy: bool) -> None:
        self.translation = with_edges(self.text, match.text)


class PlainDocument:
    """Lines; those without a translation become empty."""

    source = None
    kept = 0
    marks_fuzzy = False

    def __init__(self, content: bytes, label: str, target: str) -> None:
        self._lines = [Line(line) for line in decoded(label, content).splitlines()]
        self.units = [line for line in self._lines if line.text.strip()]

    def write(self, file: BinaryIO) -> None:
        for line in self._lines:
            file.write(f"{line.translation}\n".encode())
