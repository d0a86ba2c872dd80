"""Sentence: the record that every reader yields; BadUnits: what was malformed and skipped."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from math import isinf
from pathlib import Path
from typing import Any, NamedTuple

from index.errors import CorpusError, unrepeated
from index.text.normalisation import clean

LONGEST_REPEATED = 1 << 20  # characters of a record's metadata, times its sentences, which each repeat it
FEW_SENTENCES = 16  # up to so many in a record, its metadata counts once
# Characters that each answer repeats.
LONGEST_ID, LONGEST_METADATA = 500, 10_000
MOST_BAD = 100_000  # malformed units that are kept in memory
DEEPEST_JSON = 64  # levels of arrays and objects: a later reader may have a smaller stack

NO_METADATA: Mapping[str, Any] = {}
# Metadata of a translated string: what is filled from it besides its text (filling.py).
CONTEXT = "context"  # gettext's msgctxt and the like
SOURCE_TEXT, TARGET_TEXT = "source_text", "target_text"  # as they are written, where cleaning changes them
FORMS = "forms"  # all plural forms
CODES = "codes"  # the text with its inline codes as tags


class RecordNumber(str):
    """The id of a record to which its file gives none, so that one of another file may have the same."""


class Sentence(NamedTuple):
    """A sentence as it stands in its file, before cleaning.

    `id` is the file's own, else a RecordNumber; `line` is where the record begins. Sentences of
    one `group`, in any language and file, translate each other. `confirmed` is false for what a translator
    has not approved: fuzzy entries, targets still to be translated. A string is from a program: `Size`,
    `_Size` and `Size:` are three, and their language is not guessed.
    """

    id: str
    text: str
    language: str
    line: int
    metadata: Mapping[str, Any] = NO_METADATA
    group: str | None = None
    confirmed: bool = True
    is_string: bool = False


def too_long(sentence: Sentence) -> str | None:
    """Why a sentence is left out, since every answer would repeat it: a very long ID or metadata."""
    if len(sentence.id) > LONGEST_ID:
        return f"an ID longer than {LONGEST_ID} characters: shorten it"
    if sentence.metadata and len(json.dumps(sentence.metadata, default=str)) > LONGEST_METADATA:
        return f"metadata longer than {LONGEST_METADATA} characters: shorten them"
    return None


class BadUnit(NamedTuple):
    """A line, row, entry or unit that is malformed; readers yield this in its place."""

    line: int
    reason: str


class UnitError(CorpusError):
    """One unit of a file is malformed; the others can still be read."""

    def __init__(self, path: Path | str, line: int, reason: str) -> None:
        super().__init__(f"{path}, line {line}: {reason}")
        self.unit = BadUnit(line, reason)


class BadUnits:
    """The bad units of some files, each once, in the order in which they were read."""

    def __init__(self) -> None:
        self._units: dict[tuple[Path, BadUnit], None] = {}

    def __len__(self) -> int:
        return len(self._units)

    def __iter__(self) -> Iterator[str]:
        """Yield each as a line: `sentences.tsv, line 7: 3 cells, but line 1 names 2: mend the line`."""
        return (f"{path.name}, line {unit.line}: {unit.reason}" for path, unit in self._units)

    def add(self, path: Path, unit: BadUnit) -> None:
        """Add a unit. Raises CorpusError for more than MOST_BAD."""
        self._units[path, unit] = None
        if len(self._units) > MOST_BAD:
            raise CorpusError(f"{path}: more than {MOST_BAD} bad lines or units: check its --format")

    def first_of(self, path: Path) -> BadUnit | None:
        """The first bad unit of a file; None if it has none."""
        return next((unit for other, unit in self._units if other == path), None)

    def write(self, path: Path) -> None:
        """Write all units as a TSV with a header. Raises OSError."""
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, delimiter="\t", lineterminator="\n")
            table.writerow(["file", "line", "reason"])
            table.writerows([source.name, unit.line, unit.reason] for source, unit in self._units)


def whole(read: Iterable[Sentence]) -> Iterator[Sentence | BadUnit]:
    """Yield the sentences of a unit or, if reading them finds it malformed, a BadUnit in their place."""
    try:
        yield from list(read)
    except UnitError as error:
        yield error.unit


def as_written(source: str, target: str) -> dict[str, Any]:
    """Metadata of a translated string: what cleaning changes of it and of its source."""
    texts = {SOURCE_TEXT: source, TARGET_TEXT: target}
    return {name: text for name, text in texts.items() if clean(text) != text}


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


def parse_json(text: str, *, repeated: bool = False) -> Any:  # noqa: ANN401 (any document)
    """Parse a JSON document.

    Raises ValueError if it is malformed, nested deeper than DEEPEST_JSON, or has what would be lost: a number
    or a text that Python cannot write again, or (unless `repeated`) a key that is repeated in an object.
    """
    try:
        document = json.loads(
            text,
            parse_constant=_no_constant,
            parse_float=float if repeated else _finite,
            object_pairs_hook=None if repeated else unrepeated,
        )
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if text.count("[") + text.count("{") > DEEPEST_JSON and _is_deeper(document, DEEPEST_JSON):
        raise ValueError("it is nested too deeply")
    if not repeated and "\\u" in text and not is_text(json.dumps(document, ensure_ascii=False)):
        raise ValueError("half a character: \\ud800 to \\udfff must come in pairs")
    return document


def named_object(name: str, value: object) -> dict[str, Any]:
    """The JSON object that a value of metadata is, or has as text; any other value under its name."""
    try:
        document = parse_json(value) if isinstance(value, str) else value
    except ValueError:
        document = value
    return document if isinstance(document, dict) else {name: value}


def is_text(text: str) -> bool:
    """Whether a text has no half characters (surrogates), which no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _finite(number: str) -> float:
    value = float(number)
    if isinf(value):
        raise ValueError(f"{number[:20]} is too large")
    return value


def _is_deeper(document: object, levels: int) -> bool:
    """Whether a document has more than so many levels of arrays and objects."""
    if not isinstance(document, list | dict):
        return False
    items = document.values() if isinstance(document, dict) else document
    return levels == 0 or any(_is_deeper(item, levels - 1) for item in items)
