"""XLIFF 1.2 and 2.x (OASIS): a trans-unit, or a segment of a unit, is a group, as are its <mrk> segments.

Filled, a fuzzy translation is `needs-review-translation` (1.2) or `initial` (2.x). What is marked
`translate="no"` is neither read nor filled.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from index.formats.document import Document, Edit, Filling, check_target
from index.formats.markup import inline, xml
from index.formats.sentence import BadUnit, Sentence, UnitError, check_repeated, local_group, whole

UNITS = ("trans-unit", "unit")
# States of a target that is not translated yet.
UNTRANSLATED_STATES = frozenset({"new", "needs-translation", "initial"})
UNCONFIRMED_STATE = re.compile("new|initial|needs-.+")  # of a target that nobody has approved
MOST_SEGMENTS = 256  # of a unit; one with more is a single text
SUB_STATE = "passepartout:fuzzy"  # XLIFF 2.x requires a tool-specific prefix


class SegmentPair(NamedTuple):
    """A source, its target if there is one, and the element that has both; `segment`: of a <mrk>."""

    holder: xml.Element
    source: xml.Element
    target: xml.Element | None
    segment: str | None = None


def _pairs(unit: xml.Element) -> Iterator[SegmentPair]:
    for holder in unit.elements("segment") if unit.name == "unit" else [unit]:
        source, target = holder.first("source"), holder.first("target")
        marks, translated = _marks(holder.first("seg-source")), _marks(target)
        whole_text = target is not None and not translated and target.text.strip()
        if 0 < len(marks) <= MOST_SEGMENTS and not whole_text:
            for name, mark in marks.items():
                yield SegmentPair(holder, mark, translated.get(name), name)
        elif source is not None:
            yield SegmentPair(holder, source, target)


def _marks(element: xml.Element | None) -> dict[str, xml.Element]:
    """The <mrk> segments of an element by their `mid`; none if two have the same."""
    marks = [mark for mark in (element.within("mrk") if element else ()) if mark.get("mtype") == "seg"]
    named = {mark.get("mid") or "": mark for mark in marks}
    return named if len(named) == len(marks) else {}


def _translatable(unit: xml.Element) -> bool:
    stated = (element.get("translate") for element in (unit, *unit.ancestors()))
    return next((value for value in stated if value is not None), "yes") != "no"


def read(path: Path, language: str | None) -> Iterator[Sentence | BadUnit]:
    """Yield every source, and target if present, in the languages that the file names. Raises CorpusError."""
    number = 0
    for unit in xml.records(path, "xliff", UNITS):
        if isinstance(unit, BadUnit):
            yield unit
        elif _translatable(unit):
            pairs = list(_pairs(unit))
            yield from whole(_sentences(path, number, unit, pairs))
            number += len(pairs)


def _sentences(path: Path, before: int, unit: xml.Element, pairs: list[SegmentPair]) -> Iterator[Sentence]:
    shared, codes = _context(unit)
    check_repeated(path, unit.line, shared, 2 * len(pairs))
    for number, pair in enumerate(pairs, start=before + 1):
        common = dict(shared)
        name = common.pop("id", str(number))
        if pair.holder is not unit:
            common |= pair.holder.attributes
            name = f"{name}.{common.pop('id', number)}"
        elif pair.segment is not None:
            name = f"{name}.{pair.segment}"
        for kind, element in (("source", pair.source), ("target", pair.target)):
            if element is None:
                continue
            own: dict[str, Any] = {} if pair.segment is not None else dict(element.attributes)
            language = own.pop("lang", None) or codes[kind]
            if not language:
                raise UnitError(path, element.line, f"no language for <{kind}>: name it in the file")
            metadata = common | own | (inline.metadata_of(element) if kind == "target" else {})
            confirmed = kind == "source" or not UNCONFIRMED_STATE.fullmatch(_state(pair))
            group, line = local_group(path, number), element.line
            yield Sentence(name, element.text, language, line, metadata, group, confirmed, is_string=True)


def _state(pair: SegmentPair) -> str:
    target = pair.holder.first("target")
    return (target.get("state") if target else None) or pair.holder.get("state") or ""


def _context(unit: xml.Element) -> tuple[dict[str, Any], dict[str, str | None]]:
    """The metadata of a unit (attributes, notes, original file) and the languages of source and target."""
    metadata: dict[str, Any] = dict(unit.attributes)
    notes = [note.text for child in (unit, *unit.elements("notes")) for note in child.elements("note")]
    if notes:
        metadata["note"] = " ".join(notes)
    codes: dict[str, str | None] = {"source": None, "target": None}
    for parent in unit.ancestors():
        if parent.name == "file" and (original := parent.get("original")):
            metadata["original"] = original
        codes["source"] = codes["source"] or parent.get("source-language") or parent.get("srcLang")
        codes["target"] = codes["target"] or parent.get("target-language") or parent.get("trgLang")
    return metadata, codes


def open_document(content: bytes, label: str, target: str) -> Document:
    """Read a file to be filled. Raises CorpusError, UsageError for one with another target language."""
    text, charset, units = xml.document(content, label, "xliff", UNITS)
    document = Document(text, charset, marks_fuzzy=True)
    holders: dict[xml.Element, None] = {}
    for unit in units:
        holders |= dict.fromkeys(parent for parent in unit.ancestors() if parent.name in ("file", "xliff"))
        if _translatable(unit):
            composed: dict[xml.Element, dict[str, Filling]] = {}
            for pair in _pairs(unit):
                _add(document, pair, composed.setdefault(pair.holder, {}))
    for holder in holders:
        _head(document, holder, label, target)
    return document


def _head(document: Document, holder: xml.Element, label: str, target: str) -> None:
    source = holder.get("srcLang") or holder.get("source-language")
    if source is None:
        return
    name = "trgLang" if holder.get("srcLang") is not None else "target-language"
    document.source = document.source or source
    check_target(label, holder.get(name), target)
    if not holder.get(name):
        document.head += xml.rewritten(document.text, holder, None, {name: target})


def _add(document: Document, pair: SegmentPair, contents: dict[str, Filling]) -> None:
    filled = False
    if pair.target is not None:
        contents[pair.segment or ""] = Filling(document.text[pair.target.inner : pair.target.close])
        names = {child.name for child in pair.target.children if isinstance(child, xml.Element)}
        filled = bool(pair.target.text.strip() or names - {"mrk"})
    if filled and (_state(pair) not in UNTRANSLATED_STATES or pair.holder.get("subState") == SUB_STATE):
        document.kept += 1
    elif pair.source.text.strip():
        edit = partial(_filled, document, pair, contents)
        document.units.append(inline.unit(document, pair.source, edit))


def _filled(
    document: Document, pair: SegmentPair, contents: dict[str, Filling], filling: Filling
) -> Iterator[Edit]:
    """Yield the edits of a target, which is added after the source; `contents`: of its segments so far."""
    text, target = document.text, pair.holder.first("target")
    source = pair.holder.first("seg-source") or pair.holder.first("source") or pair.source
    contents[pair.segment or ""] = filling
    fuzzy = any(segment.fuzzy for segment in contents.values())
    content, changes = filling.text, dict[str, str]()
    if pair.holder.name == "segment":
        state = {"state": "initial", "subState": SUB_STATE} if fuzzy else {"state": "translated"}
        yield from xml.rewritten(text, pair.holder, None, state)
    elif not (pair.segment and target and target.text.strip() and UNCONFIRMED_STATE.fullmatch(_state(pair))):
        stated = ("needs-review-translation", "fuzzy-match") if fuzzy else ("translated", "exact-match")
        changes = dict(zip(("state", "state-qualifier"), stated, strict=True))
    if pair.segment is not None:
        if target and pair.target and _marks(source).keys() <= _marks(target).keys():
            yield from xml.rewritten(text, pair.target, content)
            yield from xml.rewritten(text, target, None, changes)
            return
        content = _composed(text, source, contents)
    if target is not None:
        yield from xml.rewritten(text, target, content, changes)
        return
    prefix = text[pair.source.begin + 1 : pair.source.inner].partition(pair.source.name)[0]
    attributes = "".join(f' {name}="{value}"' for name, value in changes.items())
    written = f"<{prefix}target{attributes}>{content}</{prefix}target>"
    yield Edit(source.end, source.end, xml.indentation(text, source) + written)


def _composed(text: str, divided: xml.Element, contents: dict[str, Filling]) -> str:
    """The content of a <seg-source> with the segments translated, empty where they are not."""
    parts, end = [], divided.inner
    for name, mark in _marks(divided).items():
        parts += [text[end : mark.inner], contents.get(name, Filling("")).text]
        end = mark.close
    return "".join([*parts, text[end : divided.close]])
