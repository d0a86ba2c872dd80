"""XLIFF 1.2 and 2.x (OASIS): a trans-unit, or a segment of a unit, is a group."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from index.formats import xml
from index.formats.sentence import BadUnit, Sentence, UnitError, check_repeated, local_group, whole

# States of a target that is not translated yet.
UNTRANSLATED_STATES = frozenset({"new", "needs-translation", "initial"})
# States of a target that nobody has approved.
UNREVIEWED_STATES = frozenset(
    {
        "needs-adaptation",
        "needs-l10n",
        "needs-review-adaptation",
        "needs-review-l10n",
        "needs-review-translation",
    }
)


def read(path: Path, language: str | None) -> Iterator[Sentence | BadUnit]:
    """Yield every source, and target if present, in the languages that the file names. Raises CorpusError."""
    number = 0
    for unit in xml.records(path, "xliff", ("trans-unit", "unit")):
        parts = list(xml.children(unit, "segment")) if xml.name(unit) == "unit" else [unit]
        yield from whole(partial(_sentences, path, number, unit, parts))
        number += len(parts)


def _sentences(path: Path, before: int, unit: xml.Element, parts: list[xml.Element]) -> Iterator[Sentence]:
    shared, codes = _context(path, unit)
    check_repeated(path, unit.sourceline, shared, 2 * len(parts))
    for number, part in enumerate(parts, start=before + 1):
        yield from _pair(path, unit, part, number, dict(shared), codes)


def _pair(
    path: Path,
    unit: xml.Element,
    part: xml.Element,
    number: int,
    shared: dict[str, Any],
    codes: dict[str, str | None],
) -> Iterator[Sentence]:
    name = shared.pop("id", str(number))
    if part is not unit:
        shared |= xml.attributes(path, part)
        name = f"{name}.{shared.pop('id', number)}"
    for kind in ("source", "target"):
        element = next(xml.children(part, kind), None)
        if element is None:
            continue
        own_attributes = xml.attributes(path, element)
        language = own_attributes.pop("lang", None) or codes[kind]
        if not language:
            raise UnitError(path, element.sourceline, f"no language of <{kind}>: name it in the file")
        metadata = shared | own_attributes
        state = str(metadata.get("state", ""))
        yield Sentence(
            name,
            xml.text_of(path, element),
            language,
            element.sourceline,
            metadata,
            local_group(path, number),
            confirmed=kind == "source" or state not in UNTRANSLATED_STATES | UNREVIEWED_STATES,
        )


def _context(path: Path, unit: xml.Element) -> tuple[dict[str, Any], dict[str, str | None]]:
    """The metadata of a unit (attributes, notes, original file) and the languages of source and target."""
    metadata: dict[str, Any] = xml.attributes(path, unit)
    notes = [
        note.text or ""
        for child in (unit, *xml.children(unit, "notes"))
        for note in xml.children(child, "note")
    ]
    if notes:
        metadata["note"] = " ".join(notes)
    codes: dict[str, str | None] = {"source": None, "target": None}
    for parent in unit.iterancestors():
        if xml.name(parent) == "file" and (original := parent.get("original")):
            metadata["original"] = original
        codes["source"] = codes["source"] or parent.get("source-language") or parent.get("srcLang")
        codes["target"] = codes["target"] or parent.get("target-language") or parent.get("trgLang")
    return metadata, codes
