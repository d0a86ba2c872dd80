"""XML with texts by key: Android's strings.xml, Apple's .stringsdict and .NET's .resx."""

import re
from collections.abc import Iterable, Iterator, Mapping
from html import unescape

from index.formats.document import Charset
from index.formats.keyed import Contents, Keyed, String
from index.formats.markup import xml

_TAG = re.compile(r"<[^<>]+>")
_PLACEHOLDER = re.compile(r"(<xliff:g\b[^<>]*(?<!/)>)([^<>]*)</xliff:g>")
# What Android shows otherwise, but for tags: what is quoted (1), white space (2).
_ANDROID_PART = re.compile(rf'{_TAG.pattern}|\\.|"((?:{_TAG.pattern}|[^"\\]|\\.)*+)"|(\s+)', re.DOTALL)
_NO_ESCAPES: Mapping[int, str] = {}
_ANDROID_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\t": "\\t"})
_ANDROID_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_QUANTITIES = frozenset({"zero", "one", "two", "few", "many", "other"})


def _content(text: str, element: xml.Element) -> str:
    """The text of an element; the tags within it as they are written."""
    return "".join(
        child
        if isinstance(child, str)
        else text[child.begin : child.inner] + _content(text, child) + text[child.close : child.end]
        for child in element.children
    )


def _string(text: str, element: xml.Element, key: str, content: str | None = None) -> Iterator[String]:
    if element.close < element.end:
        found = _content(text, element) if content is None else content
        yield String(key, found, element.inner, element.close)


def _written(text: str, charset: Charset, before: str, escapes: Mapping[int, str] = _NO_ESCAPES) -> str:
    """A text as XML, CDATA if that before was; its tags are tags if that had the same, or placeholders."""
    plain = re.sub(r"(?s)<!--.*?-->|<!\[CDATA\[.*?\]\]>", "", before)
    if "<![CDATA[" in before and "<" not in plain:
        return f"<![CDATA[{text.translate(escapes).replace(']]>', ']]]]><![CDATA[>')}]]>"
    tags, others = (_TAG.findall(_PLACEHOLDER.sub("", some)) for some in (text, plain))
    marks = set(tags) if tags == others else set()
    if tags == others or "</xliff:g>" not in tags:
        marks |= {"</xliff:g>", *dict(_PLACEHOLDER.findall(plain))}
    parts = re.split(f"({_TAG.pattern})", text)
    return "".join(part if part in marks else xml.escaped(part.translate(escapes), charset) for part in parts)


def _android(label: str, content: bytes) -> Contents:
    text, charset, elements = xml.document(content, label, "resources", ("string", "string-array", "plurals"))

    def strings() -> Iterator[String]:
        for element in elements:
            if element.get("translatable") == "false":
                continue
            name = element.get("name") or ""
            rows: Iterable[tuple[str, xml.Element]] = [(name, element)]
            if element.name != "string":
                items = element.elements("item")
                rows = ((f"{name}/{item.get('quantity') or n}", item) for n, item in enumerate(items))
            for key, row in rows:
                written = _content(text, row)
                # What begins so refers to another resource, unless it is escaped.
                if not written.lstrip().startswith(("@string/", "?")):
                    yield from _string(text, row, key, _unescaped(written))

    return Contents(text, charset, strings())


def _unescaped(text: str) -> str:
    """A text as Android shows it: escapes are characters, white space is single unless it is quoted."""
    shown = _ANDROID_PART.sub(lambda part: " " if part[2] else part[part.lastindex or 0], text.strip())
    return _ANDROID_ESCAPE.sub(_character, shown)


def _character(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else {"n": "\n", "t": "\t"}.get(code, code)


def _android_written(text: str, charset: Charset, before: str) -> str:
    written = _written(_with_placeholders(text, before), charset, before, _ANDROID_ESCAPES)
    written = re.sub(r"^(<!\[CDATA\[)?(?=[@?])", r"\g<0>\\", written)
    return f'"{written}"' if re.search(r"^\s|\s\s|\s$", text.translate(_ANDROID_ESCAPES)) else written


def _with_placeholders(text: str, before: str) -> str:
    """A translation with the placeholders of the text before: around what they contain, or at its end."""
    if sorted(_TAG.findall(text)) != sorted(_TAG.findall(before)):
        text = re.sub(r"</?xliff:g\b[^<>]*>", "", text)
        for opening, content in _PLACEHOLDER.findall(before):
            bare = _unescaped(unescape(content))
            parts = re.split(rf"(?<!\w){re.escape(bare)}(?!\w|</xliff:g>)", text, maxsplit=1)
            text = f"{opening}{bare}</xliff:g>".join(parts if len(parts) > 1 else [f"{text} ", ""])
    return text


def _stringsdict(label: str, content: bytes) -> Contents:
    text, charset, elements = xml.document(content, label, "plist", ("dict",))

    def strings(element: xml.Element, path: str) -> Iterator[String]:
        key = ""
        for child in element.elements("key", "dict", "string"):
            if child.name == "key":
                key = child.text
            elif child.name == "dict":
                yield from strings(child, f"{path}/{key}" if path else key)
            elif key in _QUANTITIES:
                yield from _string(text, child, f"{path}/{key}")

    return Contents(text, charset, (string for element in elements for string in strings(element, "")))


def _resx(label: str, content: bytes) -> Contents:
    text, charset, elements = xml.document(content, label, "root", ("data",))
    values = (
        (element.get("name") or "", element.first("value"))
        for element in elements
        if element.get("type") is None and element.get("mimetype") is None
    )
    return Contents(
        text, charset, (string for name, value in values if value for string in _string(text, value, name))
    )


ANDROID = Keyed(_android, _android_written)
STRINGSDICT = Keyed(_stringsdict, _written)
RESX = Keyed(_resx, _written)
