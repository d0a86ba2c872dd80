"""XML corpora as a stream of records. Entities are never expanded, external files never opened.

libxml2 bounds the depth (256), each text and each attribute (10 MB); records and attributes are bounded here.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, cast

from lxml import etree

from index.errors import CorpusError
from index.formats.sentence import UnitError
from index.formats.streams import READ_BYTES, open_stream

LONGEST_RECORD = 4 << 20  # bytes
MOST_ATTRIBUTES = 256  # of an element: lxml looks each value up by its name, one attribute after another
LANG_ATTRIBUTE = "{http://www.w3.org/XML/1998/namespace}lang"
# Inline elements that hold the codes of another format, not text (TMX 1.4, XLIFF 1.2).
CODE_ELEMENTS = frozenset({"bpt", "ept", "it", "ph", "ut"})

Element = Any  # lxml is untyped


def records(path: Path, root: str, tags: Collection[str]) -> Iterator[Element]:
    """Yield each complete element whose local name is in `tags`; it is emptied before the next one is read.

    Raises CorpusError, which names file and line, for malformed XML, another root or declared entities.
    """
    # Comments and processing instructions are left out: they would split a text in two.
    parser = etree.XMLPullParser(
        ("start", "end"),
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    walk = _Walk(path, root, tags)
    fed = 0
    try:
        with open_stream(path) as file:
            while block := file.read(READ_BYTES):
                parser.feed(block)
                fed += len(block)
                yield from walk.finished(parser.read_events(), fed)
        parser.close()
        yield from walk.finished(parser.read_events(), fed)
    except etree.XMLSyntaxError as error:
        raise CorpusError(
            f"{path}, line {error.lineno}: not well-formed XML ({error.msg}): correct it"
        ) from error


class _Walk:
    """Finds the records among parsed elements, and frees all other elements."""

    def __init__(self, path: Path, root: str, tags: Collection[str]) -> None:
        self.path, self.root, self.tags = path, root, tags
        self.record: Element = None
        self.begin = 0
        self.started = False

    def finished(self, events: Iterator[tuple[str, Element]], fed: int) -> Iterator[Element]:
        for event, element in events:
            if event == "start":
                self._start(element, fed)
            elif element is self.record:
                yield element
                self.record = None
            if event == "end" and self.record is None:
                _forget(element)
        if self.record is not None and fed - self.begin > LONGEST_RECORD:
            raise CorpusError(
                f"{self.path}, line {self.record.sourceline}: longer than {LONGEST_RECORD} bytes: split it"
            )

    def _start(self, element: Element, fed: int) -> None:
        if not self.started:
            self.started = True
            _check_root(self.path, element, self.root)
        if self.record is None and name(element) in self.tags:
            self.record, self.begin = element, fed


def _check_root(path: Path | str, element: Element, root: str) -> None:
    declared = element.getroottree().docinfo.internalDTD
    if declared is not None and next(declared.iterentities(), None) is not None:
        raise CorpusError(f"{path}: it declares entities, which are refused: write the characters themselves")
    if name(element) != root:
        raise CorpusError(
            f"{path}, line {element.sourceline}: <{name(element)}>, not <{root}>: give --format"
        )


def document(content: bytes, label: str, root: str) -> Element:
    """Parse a whole file, as `records` does, to be changed and written; returns its root.

    Raises CorpusError, which calls the file `label`.
    """
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False)
    try:
        element = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise CorpusError(
            f"{label}, line {error.lineno}: not well-formed XML ({error.msg}): correct it"
        ) from error
    _check_root(label, element, root)
    return element


def _forget(element: Element) -> None:
    tail = element.tail
    element.clear()
    element.tail = tail
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def root_name(path: Path) -> str:
    """The local name of the root element; "" if the file is not XML."""
    parser = etree.XMLPullParser(("start",), resolve_entities=False, load_dtd=False, no_network=True)
    with open_stream(path) as file:
        try:
            parser.feed(file.read(READ_BYTES))
        except etree.XMLSyntaxError:
            return ""
    return next((name(element) for _, element in parser.read_events()), "")


def name(element: Element) -> str:
    """The name of an element without its namespace."""
    return cast(str, etree.QName(element).localname) if isinstance(element.tag, str) else ""


def children(element: Element, *names: str) -> Iterator[Element]:
    """The children of these local names, in order."""
    return (child for child in element if name(child) in names)


def text_of(path: Path | str, element: Element) -> str:
    """The text of a segment without inline codes. Raises UnitError for an undefined entity."""
    parts = [element.text or ""]
    for child in element:
        if child.tag is etree.Entity:
            raise UnitError(path, child.sourceline, f"{child.text} is not defined: write the character")
        if name(child) not in CODE_ELEMENTS:
            parts.append(text_of(path, child))
        parts.append(child.tail or "")
    return "".join(parts)


def short_text_of(path: Path | str, element: Element, longest: int) -> str:
    """The text of a segment, as `text_of`. Raises CorpusError for more than `longest` characters."""
    text = text_of(path, element)
    if len(text) > longest:
        raise CorpusError(
            f"{path}, line {element.sourceline}: a text of {len(text)} characters, the most is {longest}: "
            "divide it"
        )
    return text


def attributes(path: Path, element: Element) -> dict[str, str]:
    """Attributes by local name. Raises UnitError for more than MOST_ATTRIBUTES."""
    if len(element.attrib) > MOST_ATTRIBUTES:
        raise UnitError(
            path,
            element.sourceline,
            f"<{name(element)}> has {len(element.attrib)} attributes, the most is {MOST_ATTRIBUTES}: leave "
            "some out",
        )
    return {etree.QName(key).localname: value for key, value in element.attrib.items()}
