"""Sentence: the record that every reader yields."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from index.errors import CorpusError

LONGEST_REPEATED = 1 << 20  # characters of a record's metadata, times its sentences, which each repeat it
FEW_SENTENCES = 16  # up to so many in a record, its metadata may have any length
DEEPEST_JSON = 64  # levels of arrays and objects: a later reader may have a smaller stack

NO_METADATA: Mapping[str, Any] = {}


class Sentence(NamedTuple):
    """A sentence as it stands in its file, before cleaning.

    `id` is the file's own, else the number of the record; `line` is where the record begins (in Parquet its
    row). Sentences of one `group`, in any language and file, translate each other. `confirmed` is false for
    what a translator has not approved: fuzzy entries, targets still to be translated.
    """

    id: str
    text: str
    language: str
    line: int
    metadata: Mapping[str, Any] = NO_METADATA
    group: str | None = None
    confirmed: bool = True


class BadUnit(NamedTuple):
    """A line, row, entry or unit that is malformed; readers yield this in its place."""

    line: int
    reason: str


class UnitError(CorpusError):
    """One unit of a file is malformed; the others can still be read."""

    def __init__(self, path: Path | str, line: int, reason: str) -> None:
        super().__init__(f"{path}, line {line}: {reason}")
        self.unit = BadUnit(line, reason)


def whole(read: Callable[[], Iterable[Sentence]]) -> Iterator[Sentence | BadUnit]:
    """Yield the sentences of a unit or, if it is malformed, a BadUnit in their place."""
    try:
        yield from list(read())
    except UnitError as error:
        yield error.unit


def local_group(path: Path, name: str | int) -> str:
    """The group of a record whose name is unique within its own file only."""
    return f"{path.name}#{name}"


def group_number(name: str) -> int:
    """A group's number: the first 8 bytes of its name's BLAKE2b, as a signed integer."""
    return int.from_bytes(
        blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True
    )


def check_repeated(path: Path, line: int, metadata: Mapping[str, Any], count: int) -> None:
    """Raise UnitError if the metadata, repeated for `count` sentences, is longer than LONGEST_REPEATED."""
    if count > FEW_SENTENCES and count * len(json.dumps(metadata, default=str)) > LONGEST_REPEATED:
        raise UnitError(path, line, f"metadata that {count} sentences share: shorten it or divide the record")


def parse_json(text: str) -> Any:  # noqa: ANN401 (any document)
    """Parse a JSON document. Raises ValueError if it is malformed or nested deeper than DEEPEST_JSON."""
    try:
        document = json.loads(text, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if text.count("[") + text.count("{") > DEEPEST_JSON and _depth(document) > DEEPEST_JSON:
        raise ValueError("it is nested too deeply")
    return document


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _depth(document: object) -> int:
    """The levels of arrays and objects, counted up to one more than DEEPEST_JSON."""
    level, depth = [document], 0
    while depth <= DEEPEST_JSON and (
        containers := [value for value in level if isinstance(value, list | dict)]
    ):
        level = [
            item
            for container in containers
            for item in (container.values() if isinstance(container, dict) else container)
        ]
        depth += 1
    return depth
