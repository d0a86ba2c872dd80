"""Sentence: the record that every reader yields."""

from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

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


def local_group(path: Path, name: str | int) -> str:
    """The group of a record whose name is unique within its own file only."""
    return f"{path.name}#{name}"


def group_number(name: str) -> int:
    """A group's number: the first 8 bytes of its name's BLAKE2b, as a signed integer."""
    return int.from_bytes(
        blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True
    )
