"""XLIFF 1.2 and 2.x. A fuzzy translation is `needs-review-translation` (1.2) or `initial` (2.x)."""

from dataclasses import dataclass
from typing import BinaryIO

from lxml import etree

from index.documents.document import LONGEST_TEXT, check_target, with_edges
from index.formats import xml
from index.formats.xliff import UNTRANSLATED_STATES
from index.search.ranking import Match

SUB_STATE = "passepartout:fuzzy"  # XLIFF 2.x requires a tool-specific prefix


@dataclass
class Segment:
    """A trans-unit of 1.2, or a segment of 2.x."""

    text: str
    has_codes: bool
    element: xml.Element
    source: xml.Element

    def fill(self, match: Match, *, fuzzy: bool) -> None:
        target = next(xml.children(self.element, "target"), None)
        if target is None:
            target = etree.Element(etree.QName(etree.QName(self.source).namespace, "target"))
            before = next(xml.children(self.element, "seg-source"), self.source)
            before.addnext(target)
            target.tail, before.tail = before.tail, before.tail  # the same indentation
        target[:] = []
        target.text = with_edges(self.text, match.text)
        if xml.name(self.element) == "segment":
            self.element.set("state", "initial" if fuzzy else "translated")
            if fuzzy:
                self.element.set("subState", SUB_STATE)
        else:
            target.set("state", "needs-review-translation" if fuzzy else "translated")
            target.set("state-qualifier", "fuzzy-match" if fuzzy else "exact-match")


class XliffDocument:
    """An XLIFF file, without the texts marked `translate="no"`."""

    marks_fuzzy = True

    def __init__(self, content: bytes, label: str, target: str) -> None:
        self._root = xml.document(content, label, "xliff")
        self.source: str | None = None
        self.units: list[Segment] = []
        self.kept = 0
        for holder in (self._root, *self._root.iter("{*}file")):
            self._languages(holder, label, target)
        for unit in self._root.iter("{*}trans-unit", "{*}unit"):
            if unit.get("translate") != "no":
                for part in xml.children(unit, "segment") if xml.name(unit) == "unit" else [unit]:
                    self._add(part, label)

    def write(self, file: BinaryIO) -> None:
        self._root.getroottree().write(file, encoding="utf-8", xml_declaration=True)

    def _languages(self, holder: xml.Element, label: str, target: str) -> None:
        new = holder.get("srcLang") is not None
        source = holder.get("srcLang") or holder.get("source-language")
        if source is not None:
            self.source = self.source or source
            name = "trgLang" if new else "target-language"
            check_target(label, holder.get(name), target)
            holder.set(name, holder.get(name) or target)

    def _add(self, part: xml.Element, label: str) -> None:
        source = next(xml.children(part, "source"), None)
        target = next(xml.children(part, "target"), None)
        if source is None:
            return
        text = xml.short_text_of(label, source, LONGEST_TEXT)
        if target is not None and (len(target) or target.text) and not _untranslated(part, target):
            self.kept += 1
        elif text.strip():
            self.units.append(Segment(text, len(source) > 0, part, source))


def _untranslated(part: xml.Element, target: xml.Element) -> bool:
    return (target.get("state") or part.get("state") or "") in UNTRANSLATED_STATES
