"""XML with texts by key: Android's strings.xml, Apple's .stringsdict and .NET's .resx."""

import re
from collections.abc import Iterable, Iterator

from index.formats.document import Charset
from index.formats.keyed import Contents, Keyed, String
from index.formats.markup import xml

_TAG = re.compile(r"<[^<>]+>")
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


def _written(text: str, charset: Charset, before: str) -> str:
    """A text as XML; its tags are tags if the text before had the same."""
    if not (tags := _TAG.findall(before)) or _TAG.findall(text) != tags:
        return xml.escaped(text, charset)
    parts = re.split(f"({_TAG.pattern})", text)
    return "".join(part if number % 2 else xml.escaped(part, charset) for number, part in enumerate(parts))


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
    parts = re.split(r'((?<!\\)"(?:[^"\\]|\\.)*")', text)
    shown = "".join(
        part[1:-1] if number % 2 else re.sub(r"\s+", " ", part) for number, part in enumerate(parts)
    )
    return _ANDROID_ESCAPE.sub(_character, shown if len(parts) > 1 else shown.strip())


def _character(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else {"n": "\n", "t": "\t"}.get(code, code)


def _android_written(text: str, charset: Charset, before: str) -> str:
    named = {"\n": "\\n", "\t": "\\t"}
    escaped = re.sub(r"[\\'\"\n\t]|^[@?]", lambda match: named.get(match[0], f"\\{match[0]}"), text)
    # Within tags nothing is escaped.
    escaped = _TAG.sub(lambda match: re.sub(r"\\(.)", r"\1", match[0]), escaped)
    written = _written(escaped, charset, before)
    return f'"{written}"' if "  " in text or text != text.strip() else written


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
