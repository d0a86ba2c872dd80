"""TMX 1.4: a unit without a variant in the target language gets one, with `x-fuzzy` if it is fuzzy."""

from dataclasses import dataclass
from typing import BinaryIO

from lxml import etree

from index.documents.document import LONGEST_TEXT, with_edges
from index.formats import xml
from index.formats.tmx import FUZZY_PROPERTY
from index.languages import lookup
from index.search.ranking import Match


@dataclass
class TranslationUnit:
    """A unit, its text in the source language, and the code for the new variant."""

    text: str
    has_codes: bool
    element: xml.Element
    target: str

    def fill(self, match: Match, *, fuzzy: bool) -> None:
        variant = etree.SubElement(self.element, "tuv", {xml.LANG_ATTRIBUTE: self.target})
        if fuzzy:
            etree.SubElement(variant, "prop", {"type": FUZZY_PROPERTY}).text = "yes"
        etree.SubElement(variant, "seg").text = with_edges(self.text, match.text)


class TmxDocument:
    """A TMX file; its source language is the header's `srclang`."""

    marks_fuzzy = True

    def __init__(self, content: bytes, label: str, target: str) -> None:
        self._root = xml.document(content, label, "tmx")
        header = next(self._root.iter("header"), None)
        stated = None if header is None else header.get("srclang")
        self.source: str | None = None if stated in (None, "*all*") else stated
        self.units: list[TranslationUnit] = []
        self.kept = 0
        for unit in self._root.iter("tu"):
            self._add(unit, label, target)

    def write(self, file: BinaryIO) -> None:
        self._root.getroottree().write(file, encoding="utf-8", xml_declaration=True)

    def _add(self, unit: xml.Element, label: str, target: str) -> None:
        segments = {}
        for variant in xml.children(unit, "tuv"):
            language = variant.get(xml.LANG_ATTRIBUTE) or variant.get("lang") or ""
            segments[language] = next(xml.children(variant, "seg"), None)
        if any(lookup(language, [target]) and _filled(seg) for language, seg in segments.items()):
            self.kept += 1
            return
        stated = self.source or next(iter(segments), "")
        source = next((seg for code, seg in segments.items() if lookup(code, [stated.split("-")[0]])), None)
        if source is not None and (text := xml.short_text_of(label, source, LONGEST_TEXT)).strip():
            self.source = self.source or stated
            self.units.append(TranslationUnit(text, len(source) > 0, unit, target))


def _filled(segment: xml.Element | None) -> bool:
    return segment is not None and bool(len(segment) or (segment.text or "").strip())
