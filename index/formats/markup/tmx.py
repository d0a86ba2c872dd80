"""TMX 1.4 (LISA/GALA): a translation unit is a group; its properties, notes and attributes are metadata.

Filled, a unit gets a variant in the target language, with `x-fuzzy` if it is fuzzy.
"""

import json
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TextIO
from xml.sax.saxutils import escape, quoteattr

from index.formats.document import Document, Edit, Filling
from index.formats.markup import inline, xml
from index.formats.sentence import (
    BadUnit,
    RecordNumber,
    Sentence,
    UnitError,
    check_repeated,
    local_group,
    named_object,
    whole,
)
from index.languages import lookup
from index.text.normalisation import clean

FUZZY_PROPERTY = "x-fuzzy"  # "yes": nobody has approved the variant
# Properties for a variant's id and for metadata that is not a string.
VARIANT_ID, VARIANT_DATA = "x-id", "x-json"
HEADER = {
    "creationtool": "passepartout",
    "creationtoolversion": "1",
    "segtype": "sentence",
    "o-tmf": "passepartout",
    "adminlang": "en",
    "datatype": "plaintext",
}


def read(path: Path, language: str | None) -> Iterator[Sentence | BadUnit]:
    """Yield every variant of every unit, in the languages that the file names. Raises CorpusError."""
    for number, unit in enumerate(xml.records(path, "tmx", ("tu",)), start=1):
        if isinstance(unit, BadUnit):
            yield unit
        else:
            yield from whole(_sentences(path, number, unit))


def _sentences(path: Path, number: int, unit: xml.Element) -> Iterator[Sentence]:
    shared: dict[str, Any] = dict(unit.attributes)
    name = shared.pop("tuid", RecordNumber(number))
    shared |= _properties(unit)
    variants = list(unit.elements("tuv"))
    check_repeated(path, unit.line, shared, len(variants))
    for variant in variants:
        metadata: dict[str, Any] = dict(variant.attributes)
        language = metadata.pop("lang", None)
        segment = variant.first("seg")
        if language is None or segment is None:
            raise UnitError(path, variant.line, "a <tuv> without xml:lang or <seg>: add it")
        metadata |= _properties(variant)
        own_name = str(metadata.pop(VARIANT_ID)) if VARIANT_ID in metadata else name
        confirmed = metadata.pop(FUZZY_PROPERTY, "") != "yes"
        metadata |= inline.metadata_of(segment)
        group = local_group(path, number)
        yield Sentence(own_name, segment.text, language, variant.line, shared | metadata, group, confirmed)


def _properties(element: xml.Element) -> dict[str, Any]:
    """<prop> by type and <note> of a unit or variant."""
    values: dict[str, Any] = {}
    for child in element.elements("prop", "note"):
        key = child.attributes.get("type", "prop") if child.name == "prop" else "note"
        if key == VARIANT_DATA:
            values |= named_object(key, child.text)
        else:
            values[key] = child.text
    return values


def write(file: TextIO, units: Iterable[list[Sentence]], source: str) -> None:
    """Write each group of sentences as a unit, in order; `source` is the header's srclang."""
    header = " ".join(f"{name}={quoteattr(value)}" for name, value in {**HEADER, "srclang": source}.items())
    file.write(f'<?xml version="1.0" encoding="utf-8"?>\n<tmx version="1.4"><header {header}/><body>')
    for unit in units:
        file.write(f"<tu>{''.join(map(_variant, unit))}</tu>\n")
    file.write("</body></tmx>\n")


def _variant(sentence: Sentence) -> str:
    data = json.dumps(dict(sentence.metadata), ensure_ascii=False) if sentence.metadata else None
    props = {VARIANT_ID: sentence.id, VARIANT_DATA: data}
    written = "".join(
        f"<prop type={quoteattr(name)}>{xml.NOT_ALLOWED.sub('', escape(value))}</prop>"
        for name, value in props.items()
        if value
    )
    # `clean` drops control characters, which XML cannot hold.
    text = escape(clean(sentence.text))
    return f"<tuv xml:lang={quoteattr(sentence.language)}>{written}<seg>{text}</seg></tuv>"


def open_document(content: bytes, label: str, target: str) -> Document:
    """Read a file to be filled; its source language is the header's `srclang`. Raises CorpusError."""
    text, charset, records = xml.document(content, label, "tmx", ("header", "tu"))
    document = Document(text, charset, marks_fuzzy=True)
    for record in records:
        if record.name == "tu":
            _add(document, record, target)
        elif record.get("srclang") not in (None, "*all*"):
            document.source = document.source or record.get("srclang")
    return document


def _add(document: Document, unit: xml.Element, target: str) -> None:
    variants = [
        (variant.get("lang") or "", variant, segment)
        for variant in unit.elements("tuv")
        if (segment := variant.first("seg")) is not None
    ]
    own = next((row for row in variants if lookup(row[0], [target])), None)
    empty = own[2] if own else None
    if empty and (empty.text.strip() or any(isinstance(child, xml.Element) for child in empty.children)):
        document.kept += 1
        return
    stated = document.source or next((code for code, _, _ in variants), "")
    found = next((row for row in variants if lookup(row[0], [stated.split("-")[0]])), None)
    if found is not None and found[2].text.strip():
        document.source = document.source or stated
        edit = partial(_filled, document, unit, empty, target)
        document.units.append(inline.unit(document, found[2], edit))


def _filled(
    document: Document,
    unit: xml.Element,
    empty: xml.Element | None,
    target: str,
    filling: Filling,
) -> Iterator[Edit]:
    """Yield the edits that add a variant after the last one, or fill the `empty` segment of one."""
    fuzzy = f'<prop type="{FUZZY_PROPERTY}">yes</prop>' if filling.fuzzy else ""
    if empty is not None:
        yield Edit(empty.begin, empty.begin, fuzzy)
        yield from xml.rewritten(document.text, empty, filling.text)
    else:
        variant = f"<tuv xml:lang={quoteattr(target)}>{fuzzy}<seg>{filling.text}</seg></tuv>"
        *_, last = unit.elements("tuv")
        yield Edit(last.end, last.end, xml.indentation(document.text, last) + variant)
