"""XML by expat, as a stream of records that know their places in the text.

Entities are never expanded, and no other file is opened. A character that XML does not allow, or an entity
that is not defined, costs its record.
"""

import codecs
import io
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, cast
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from index.errors import CorpusError
from index.formats.document import Charset, Edit, decoded, is_charset
from index.formats.sentence import BadUnit
from index.formats.streams import READ_BYTES, STREAM_CHARSETS, open_stream

LONGEST_RECORD = 4 << 20  # bytes
MOST_ATTRIBUTES = 256  # of an element
DEEPEST = 256  # elements within one another
# Inline elements that hold the codes of another format, not text (TMX 1.4, XLIFF 1.2).
CODE_ELEMENTS = frozenset({"bpt", "ept", "it", "ph", "ut"})
NO_CHANGES: Mapping[str, str] = {}  # of attributes
_INVALID = "\x7f"  # stands for a character that XML does not allow, at the same places
NOT_ALLOWED = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|&#(?:0*(?:[0-8]|1[124-9]|2[0-9]|3[01])|x0*(?:[0-8bcefBCEF]|1[0-9a-fA-F]));"
)
_DECLARATION = re.compile(r"\s*<\?xml\s[^>]*\?>")
_ENCODING = re.compile(rb"""<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_TAG = re.compile(r"""<(?:"[^"]*+"|'[^']*+'|[^'">]++)*+>""")
_ROOT = re.compile(
    r"(?:\s|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^<>\[]*(?:\[.*?\]\s*)?>)*+<([^\s<>/!?]+)",
    re.DOTALL | re.IGNORECASE,
)
_ELEMENT_NAME = re.compile(r"<([^\s/>]+)")


@dataclass(slots=True, eq=False)
class Element:
    """An element: local name, attributes by local name, and children, which are elements and texts.

    In the text of a file that is filled it stands from `begin` to `end`, its content from `inner` to `close`.
    """

    name: str
    attributes: Mapping[str, str]
    parent: "Element | None"
    line: int
    children: list["Element | str"] = field(default_factory=list)
    begin: int = -1
    inner: int = -1
    close: int = -1
    end: int = -1

    def get(self, name: str) -> str | None:
        """The value of an attribute."""
        return self.attributes.get(name)

    def elements(self, *names: str) -> Iterator["Element"]:
        """The child elements of these names, in order."""
        return (child for child in self.children if isinstance(child, Element) and child.name in names)

    def first(self, name: str) -> "Element | None":
        """The first child element of a name."""
        return next(self.elements(name), None)

    def within(self, name: str, outside: str = "") -> Iterator["Element"]:
        """The elements of a name at any depth, in order, but not those within elements named `outside`."""
        for child in self.children:
            if isinstance(child, Element) and child.name != outside:
                if child.name == name:
                    yield child
                yield from child.within(name, outside)

    def ancestors(self) -> Iterator["Element"]:
        """The elements around this one, the nearest first; they have no children."""
        element = self.parent
        while element is not None:
            yield element
            element = element.parent

    @property
    def text(self) -> str:
        """The text without inline codes."""
        return "".join(
            child if isinstance(child, str) else "" if child.name in CODE_ELEMENTS else child.text
            for child in self.children
        )


def records(path: Path, root: str, tags: Collection[str]) -> Iterator[Element | BadUnit]:
    """Yield each complete element whose local name is in `tags`, and that is not within another one.

    Raises CorpusError, which names file and line, for malformed XML, another root or declared entities.
    """
    walk = _Walk(str(path), root, tags)
    with open_stream(path) as file:
        begin = cast(io.BufferedReader, file).peek(READ_BYTES)
        marked = next((name for mark, name in STREAM_CHARSETS.items() if begin.startswith(mark)), None)
        text = io.TextIOWrapper(file, marked or _charset(walk, begin), newline="")
        try:
            while block := text.read(READ_BYTES):
                yield from walk.feed(block)
        except UnicodeDecodeError as error:
            walk.refuse(walk.line, f"not {error.encoding}")
        finally:
            text.detach()
    yield from walk.feed("", final=True)


def _charset(walk: "_Walk", block: bytes) -> str:
    """The declared character set. One of 16 bits cannot be without a byte order mark: it is not that."""
    declared = _ENCODING.match(block.removeprefix(codecs.BOM_UTF8))
    name = declared[1].decode() if declared else "utf-8"
    if not is_charset(name):
        walk.refuse(1, f"unknown encoding {name}")
    return "utf-8" if name.lower().startswith("utf-16") else name


def document(
    content: bytes, label: str, root: str, tags: Collection[str]
) -> tuple[str, Charset, list[Element]]:
    """Parse a file that is to be filled: its text, and its records without those that are malformed.

    Raises CorpusError as `records` does.
    """
    text, charset = decoded(label, content, _charset(_Walk(label, root, tags), content[:READ_BYTES]))
    found = _Walk(label, root, tags).feed(text, final=True)
    return text, charset, [record for record in found if isinstance(record, Element)]


def root_of(block: bytes) -> str:
    """The local name of the root element of a file that begins with `block`; "" if it is not XML."""
    charset = next((name for mark, name in STREAM_CHARSETS.items() if block.startswith(mark)), "utf-8")
    found = _ROOT.match(block.decode(charset, "replace"))
    return found[1].rpartition(":")[2] if found else ""


class _Walk:
    """Feeds a parser, and keeps the records it finds; of a text that is fed at once, their places too."""

    def __init__(self, label: str, root: str, tags: Collection[str]) -> None:
        self._label, self._root, self._tags = label, root, tags
        self._places: _Places | None = None
        self._element: Element | None = None
        self._record: Element | None = None
        self._bad: str | None = None  # why the record is malformed
        self._found: list[Element | BadUnit] = []
        self._depth = self._fed = self._begun = 0
        self._invalid = False  # whether there were characters that XML does not allow
        self._rest = ""
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.UseForeignDTD(True)  # an entity that is not defined is skipped
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._declared
        parser.SkippedEntityHandler = self._skipped

    @property
    def line(self) -> int:
        return self._parser.CurrentLineNumber

    def feed(self, text: str, *, final: bool = False) -> Iterator[Element | BadUnit]:
        """Parse more text; yield the records that are complete."""
        text = self._rest + text
        # A reference may go on in the next block.
        cut = -1 if final else text.rfind("&", max(0, len(text) - 12))
        text, self._rest = (text, "") if cut < 0 else (text[:cut], text[cut:])
        if self._fed == 0 and (declared := _DECLARATION.match(text)):
            text = re.sub("[^\n]", " ", declared[0]) + text[declared.end() :]
        allowed = NOT_ALLOWED.sub(lambda match: _INVALID * len(match[0]), text)
        self._invalid = self._invalid or (allowed is not text and allowed != text)
        data = allowed.encode("utf-8", "surrogatepass")
        self._places = _Places(allowed, data) if final and self._fed == 0 else None
        try:
            self._parser.Parse(data, final)
        except expat.ExpatError as error:
            self.refuse(error.lineno, expat.ErrorString(error.code))
        self._fed += len(data)
        found, self._found = self._found, []
        yield from found
        begun = self._begun if self._record is not None else max(self._parser.CurrentByteIndex, 0)
        if not final and self._fed - begun > LONGEST_RECORD:
            line = self.line if self._record is None else self._record.line
            raise CorpusError(f"{self._label}, line {line}: longer than {LONGEST_RECORD} bytes: split it")

    def refuse(self, line: int, reason: str) -> NoReturn:
        raise CorpusError(f"{self._label}, line {line}: not well-formed XML ({reason}): correct it")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        parent, local = self._element, name.rpartition(":")[2]
        element = Element(local, attributes, parent, self._parser.CurrentLineNumber)
        if parent is None and local != self._root:
            raise CorpusError(
                f"{self._label}, line {element.line}: <{local}>, not <{self._root}>: give --format"
            )
        self._depth += 1
        if self._depth > DEEPEST:
            raise CorpusError(
                f"{self._label}, line {element.line}: deeper than {DEEPEST} elements: flatten it"
            )
        if any(":" in key for key in attributes):
            element.attributes = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        if self._places:
            self._places.start(element, self._parser.CurrentByteIndex)
        if self._record is not None and parent is not None:
            parent.children.append(element)
        elif local in self._tags:
            self._record, self._begun, self._bad = element, self._parser.CurrentByteIndex, None
        if len(attributes) > MOST_ATTRIBUTES:
            self._spoil(
                f"<{local}> has {len(attributes)} attributes, the most is {MOST_ATTRIBUTES}: leave some out"
            )
        if self._invalid and any(_INVALID in value for value in attributes.values()):
            self._spoil("a character that XML does not allow: leave it out")
        self._element = element

    def _end(self, _name: str) -> None:
        element = self._element
        if element is None:
            return
        if self._places:
            self._places.end(element, self._parser.CurrentByteIndex)
        self._depth -= 1
        self._element = element.parent
        if element is self._record:
            self._found.append(element if self._bad is None else BadUnit(element.line, self._bad))
            self._record = None

    def _text(self, text: str) -> None:
        if self._record is not None and self._element is not None:
            self._element.children.append(text)
            if self._invalid and _INVALID in text:
                self._spoil("a character that XML does not allow: leave it out")

    def _spoil(self, reason: str) -> None:
        self._bad = self._bad or reason

    def _skipped(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            self._spoil(f"&{name}; is not defined: write the character")

    def _declared(self, *_: object) -> None:
        raise CorpusError(
            f"{self._label}: it declares entities, which are refused: write the characters themselves"
        )


class _Places:
    """Notes where elements stand in the text, of which expat counts the bytes."""

    def __init__(self, text: str, data: bytes) -> None:
        self._text = text
        self._bytes = None if text.isascii() else data
        self._byte = self._character = 0

    def start(self, element: Element, byte: int) -> None:
        element.begin = self._at(byte)
        tag = _TAG.match(self._text, element.begin)
        element.inner = tag.end() if tag else element.begin

    def end(self, element: Element, byte: int) -> None:
        if self._text[element.inner - 2] == "/":
            element.close = element.end = element.inner
        else:
            element.close = self._at(byte)
            element.end = self._text.index(">", element.close) + 1

    def _at(self, byte: int) -> int:
        if self._bytes is None:
            return byte
        self._character += len(self._bytes[self._byte : byte].decode("utf-8", "surrogatepass"))
        self._byte = byte
        return self._character


def rewritten(
    text: str, element: Element, content: str | None, changes: Mapping[str, str] = NO_CHANGES
) -> Iterator[Edit]:
    """Yield the edits that give an element another content (XML) and other attributes; None: as it is."""
    tag = text[element.begin : element.inner]
    for name, value in changes.items():
        tag = _with_attribute(tag, name, value)
    if element.close == element.end and content is not None:
        tag = f"{tag[:-2].rstrip()}>{content}</{_ELEMENT_NAME.findall(tag)[0]}>"
    elif content is not None:
        yield Edit(element.inner, element.close, content)
    if tag != text[element.begin : element.inner]:
        yield Edit(element.begin, element.inner, tag)


def _with_attribute(tag: str, name: str, value: str) -> str:
    written = f"{name}={quoteattr(value)}"
    changed, count = re.subn(rf"""(?<=\s){name}\s*=\s*("[^"]*"|'[^']*')""", lambda _: written, tag, count=1)
    if count:
        return changed
    end = len(tag) - (2 if tag.endswith("/>") else 1)
    return f"{tag[:end].rstrip()} {written}{tag[end:]}"


def indentation(text: str, element: Element) -> str:
    """The white space before an element."""
    before = text[text.rfind(">", 0, element.begin) + 1 : element.begin]
    return before[len(before.rstrip()) :]


def escaped(text: str, charset: Charset) -> str:
    """A text as XML; what the character set of the file does not have becomes a reference."""
    return escape(text).encode(charset.name, "xmlcharrefreplace").decode(charset.name)
