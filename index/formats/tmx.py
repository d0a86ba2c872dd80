"""TMX 1.4 (LISA/GALA): a translation unit is a group; its properties, notes and attributes are metadata."""

import json
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from lxml import etree

from index.formats import xml
from index.formats.sentence import (
    BadUnit,
    Sentence,
    UnitError,
    check_repeated,
    local_group,
    parse_json,
    whole,
)
from index.text.normalisation import clean

FUZZY_PROPERTY = "x-fuzzy"  # "yes": nobody has approved the variant
VARIANT_ID, VARIANT_DATA = (
    "x-id",
    "x-json",
)  # properties for a variant's id and for metadata that is not a string


def read(path: Path, language: str | None) -> Iterator[Sentence | BadUnit]:
    """Yield every variant of every unit, in the languages that the file names. Raises CorpusError."""
    for number, unit in enumerate(xml.records(path, "tmx", ("tu",)), start=1):
        yield from whole(partial(_sentences, path, number, unit))


def _sentences(path: Path, number: int, unit: xml.Element) -> Iterator[Sentence]:
    shared = xml.attributes(path, unit)
    name = shared.pop("tuid", str(number))
    shared |= _properties(unit)
    variants = list(xml.children(unit, "tuv"))
    check_repeated(path, unit.sourceline, shared, len(variants))
    for variant in variants:
        yield _sentence(path, variant, name, shared, local_group(path, number))


def _sentence(path: Path, variant: xml.Element, name: str, shared: dict[str, Any], group: str) -> Sentence:
    metadata = xml.attributes(path, variant)
    language = metadata.pop("lang", None)
    segment = next(xml.children(variant, "seg"), None)
    if language is None or segment is None:
        raise UnitError(path, variant.sourceline, "a <tuv> without xml:lang or <seg>: add it")
    metadata |= _properties(variant)
    name = str(metadata.pop(VARIANT_ID, name))
    confirmed = metadata.pop(FUZZY_PROPERTY, "") != "yes"
    text = xml.text_of(path, segment)
    return Sentence(name, text, language, variant.sourceline, shared | metadata, group, confirmed)


def _properties(element: xml.Element) -> dict[str, Any]:
    """<prop> by type and <note> of a unit or variant."""
    values: dict[str, Any] = {}
    for child in xml.children(element, "prop", "note"):
        key = child.get("type", "prop") if xml.name(child) == "prop" else "note"
        if key == VARIANT_DATA:
            values |= _data(child.text or "")
        else:
            values[key] = child.text or ""
    return values


def _data(text: str) -> dict[str, Any]:
    try:
        document = parse_json(text)
    except ValueError:
        return {VARIANT_DATA: text}
    return document if isinstance(document, dict) else {VARIANT_DATA: text}


def write(file: BinaryIO, units: Iterable[list[Sentence]], source: str) -> None:
    """Write each group of sentences as a unit, in order; `source` is the header's srclang."""
    header = {
        "creationtool": "passepartout",
        "creationtoolversion": "1",
        "segtype": "sentence",
        "o-tmf": "passepartout",
        "adminlang": "en",
        "srclang": source,
        "datatype": "plaintext",
    }
    with etree.xmlfile(file, encoding="utf-8") as out:
        out.write_declaration()
        with out.element("tmx", version="1.4"):
            out.write(etree.Element("header", header))
            with out.element("body"):
                for unit in units:
                    out.write(_unit(unit))


def _unit(sentences: list[Sentence]) -> xml.Element:
    unit = etree.Element("tu")
    for sentence in sentences:
        variant = etree.SubElement(unit, "tuv", {xml.LANG_ATTRIBUTE: sentence.language})
        _prop(variant, VARIANT_ID, sentence.id)
        if sentence.metadata:
            _prop(variant, VARIANT_DATA, json.dumps(dict(sentence.metadata), ensure_ascii=False))
        # `clean` drops control characters, which XML cannot hold.
        etree.SubElement(variant, "seg").text = clean(sentence.text)
    return unit


def _prop(variant: xml.Element, kind: str, value: str) -> None:
    etree.SubElement(variant, "prop", {"type": kind}).text = clean(value)
