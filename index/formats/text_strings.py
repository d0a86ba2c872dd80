"""Lines of text by key: Java's .properties, Apple's .strings, and subtitles (SRT, WebVTT) by their time."""

import re
from collections.abc import Iterator

from index.errors import CorpusError
from index.formats.document import Charset, decoded
from index.formats.keyed import Contents, Keyed, String

# A key always matches: one that goes on would be read again from each of its lines.
_PROPERTY = re.compile(
    r"^[ \t\f]*+(?P<key>(?:[^ \t\f\r\n=:\\#!]|\\.)(?:[^ \t\f\r\n=:\\]|\\(?:\r\n|.))*+)[ \t\f]*+"
    r"(?:(?:[=:][ \t\f]*|(?<=[ \t\f]))(?P<value>(?:[^\r\n\\]|\\(?:\r\n|.))*+))?|^[ \t\f]*[#!][^\r\n]*",
    re.MULTILINE | re.DOTALL,
)
_PROPERTY_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|(?:\r\n|[\r\n])[ \t\f]*|.)", re.DOTALL)
_APPLE = re.compile(
    r'/\*.*?\*/|//[^\r\n]*|(?P<key>"(?:[^"\\]|\\.)*+"|[\w.-]+)\s*=\s*"(?P<value>(?:[^"\\]|\\.)*+)"\s*;|\s+',
    re.DOTALL,
)
_APPLE_ESCAPE = re.compile(r"\\(U[0-9a-fA-F]{4}|.)", re.DOTALL)
_NAMED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_CUE = re.compile(
    r"^(?P<time>(?:\d+:)?\d\d:\d\d[.,]\d{3})[ \t]+-->[^\r\n]*(?:\r\n|\r|\n)"
    r"(?P<text>[^\r\n]+(?:(?:\r\n|\r|\n)[^\r\n]+)*)",
    re.MULTILINE,
)

SURROUNDING_TAGS = 3  # of a cue, each within the other, at most
_SURROUNDING_TAG = re.compile(r"<(\w+)[^<>]*>(?P<text>(?:(?!</?\1\b).)++)</\1>", re.DOTALL)


def _character(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "uU" and len(code) == 5:
        return chr(int(code[1:], 16))
    return "" if code[0] in "\r\n" else _NAMED.get(code, code)


def _properties(label: str, content: bytes) -> Contents:
    try:
        text, charset = decoded(label, content)
    except CorpusError:  # Java's character set before version 9
        text, charset = decoded(label, content, "iso-8859-1")

    def strings() -> Iterator[String]:
        for match in _PROPERTY.finditer(text):
            if match["value"] is not None:
                key, value = (_PROPERTY_ESCAPE.sub(_character, match[name]) for name in ("key", "value"))
                yield String(key, value, *match.span("value"))

    return Contents(text, charset, strings())


def _property(text: str, charset: Charset, before: str) -> str:
    """A value; characters that the file cannot hold, or that it writes so, as references."""
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    escaped = re.sub("^ ", r"\\ ", escaped)
    refers = re.search(r"\\u[0-9a-fA-F]{4}", before) is not None
    return "".join(
        character
        if character.isascii() or (charset.holds(character) and not refers)
        else _references(character)
        for character in escaped
    )


def _references(character: str) -> str:
    code = character.encode("utf-16-be").hex()
    return "".join(f"\\u{code[place : place + 4]}" for place in range(0, len(code), 4))


def _apple(label: str, content: bytes) -> Contents:
    text, charset = decoded(label, content)

    def strings() -> Iterator[String]:
        place = 0
        while place < len(text):
            match = _APPLE.match(text, place)
            if match is None:
                line = text.count("\n", 0, place) + 1
                raise CorpusError(f'{label}, line {line}: not "key" = "text"; correct it')
            if match["key"] is not None:
                key = _APPLE_ESCAPE.sub(_character, match["key"].strip('"'))
                yield String(key, _APPLE_ESCAPE.sub(_character, match["value"]), *match.span("value"))
            place = match.end()

    return Contents(text, charset, strings())


def _apple_written(text: str, charset: Charset, before: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")


def _subtitles(label: str, content: bytes) -> Contents:
    text, charset = decoded(label, content)
    return Contents(text, charset, map(_cue, _CUE.finditer(text)))


def _cue(match: re.Match[str]) -> String:
    """A cue without the tags around the whole of it."""
    begin, end = match.span("text")
    for _ in range(SURROUNDING_TAGS):
        if tag := _SURROUNDING_TAG.fullmatch(match.string, begin, end):
            begin, end = tag.span("text")
    return String(match["time"], match.string[begin:end], begin, end)


def _cue_written(text: str, charset: Charset, before: str) -> str:
    """A text that stays one cue: without blank lines."""
    return re.sub(r"\s*\n\s*", "\r\n" if "\r\n" in before else "\n", text.strip())


PROPERTIES = Keyed(_properties, _property)
APPLE = Keyed(_apple, _apple_written)
SUBTITLES = Keyed(_subtitles, _cue_written, wraps=True)
