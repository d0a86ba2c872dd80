"""JSON with texts by key, nested or not, as web and mobile applications use it.

Keys that begin with @ are notes (ARB); in the entries of browser extensions only `message` is a text. JSON
cannot mark a translation as fuzzy.
"""

import json
from dataclasses import dataclass
from typing import Any, BinaryIO

from index.documents.document import decoded, with_edges
from index.errors import CorpusError
from index.search.ranking import Match

MAX_DEPTH = 64  # levels of nesting
EXTENSION_ENTRY = frozenset({"message", "description", "placeholders"})

Container = dict[str, Any] | list[Any]


@dataclass(slots=True)
class Value:
    """A text and where it stands."""

    text: str
    container: Any
    place: str | int
    has_codes: bool = False

    def fill(self, match: Match, *, fuzzy: bool) -> None:
        self.container[self.place] = with_edges(self.text, match.text)


class JsonDocument:
    """Texts by key; those without a translation become empty."""

    source = None
    kept = 0
    marks_fuzzy = False

    def __init__(self, content: bytes, label: str, target: str) -> None:
        self.units: list[Value] = []
        try:
            self._document = json.loads(decoded(label, content))
        except (ValueError, RecursionError) as error:
            raise CorpusError(f"{label}: not JSON ({error}): correct it") from error
        if not isinstance(self._document, dict | list):
            raise CorpusError(f"{label}: no texts in it: give an object with texts by key")
        self._collect(label, self._document, 0)

    def write(self, file: BinaryIO) -> None:
        file.write(json.dumps(self._document, ensure_ascii=False, indent=2).encode() + b"\n")

    def _collect(self, label: str, container: Container, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise CorpusError(f"{label}: nested deeper than {MAX_DEPTH} levels: divide it")
        for place, value in list(_entries(container)):
            if isinstance(value, str) and value.strip():
                self.units.append(Value(value, container, place))
                container[place] = ""  # type: ignore[index]  # a key of a dict or an index of a list
            elif isinstance(value, dict | list):
                self._collect(label, value, depth + 1)


def _entries(container: Container) -> list[tuple[str | int, Any]]:
    if isinstance(container, list):
        return list(enumerate(container))
    if "message" in container and container.keys() <= EXTENSION_ENTRY:
        return [("message", container["message"])]
    return [(key, value) for key, value in container.items() if not key.startswith("@")]
