"""JSON with texts by key, nested or not, as web and mobile applications use it; Flutter's ARB.

Keys that begin with @ are notes (ARB), and in the entries of browser extensions only `message` is a text. The
branches of an ICU message, `{n, plural, one{# dog} other{# dogs}}`, are texts of their own.
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from index.errors import CorpusError
from index.formats.document import Charset, Edit, decoded
from index.formats.keyed import Contents, Keyed, String
from index.formats.sentence import is_text, parse_json

LOCALE = "@@locale"  # of ARB
EXTENSION_ENTRY = frozenset({"message", "description", "placeholders"})
DEEPEST_MESSAGE = 8  # arguments with branches within one another
_CHOICE = re.compile(r"\s*\{\s*\w+\s*,\s*(?:plural|select|selectordinal)\s*,\s*(?:offset:\s*\d+\s*)?")
_BRANCH = re.compile(r"\s*(=\d+|[\w-]+)\s*\{")
_MESSAGE_PIECE = re.compile(r"''|'[{}|#][^']*(?:'|\Z)|[{}]")  # between apostrophes braces are characters
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]++')


class Value(NamedTuple):
    """A string of a document, the keys that lead to it, and where it stands."""

    keys: tuple[str, ...]
    text: str
    begin: int
    end: int


def objects(text: str) -> dict[tuple[str, ...], int]:
    """Where each object of a valid document begins, by the keys that lead to it."""
    return {value.keys: value.begin for value in _walk(text) if value.end < 0}


def _walk(text: str) -> Iterator[Value]:
    """Yield every string that is not a key, and every object as a value without an end."""
    keys: list[str] = []  # to the value that comes next
    counts: list[int] = []  # of values in each array around it; -1: it is an object
    expects_key = False
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in "{[":
            if mark == "{":
                yield Value(tuple(keys), "", token.start(), -1)
            counts.append(-1 if mark == "{" else 0)
            keys.append("" if mark == "{" else "0")
            expects_key = mark == "{"
        elif mark in "}]":
            counts.pop()
            keys.pop()
            expects_key = False
        elif mark == ",":
            if counts[-1] >= 0:
                counts[-1] += 1
                keys[-1] = str(counts[-1])
            expects_key = counts[-1] < 0
        elif mark == ":":
            expects_key = False
        elif mark.startswith('"'):
            string = json.loads(mark)
            if expects_key:
                keys[-1] = string
            else:
                yield Value(tuple(keys), string, token.start(), token.end())


def branches(message: str, begin: int, end: int, path: str = "", depth: int = 0) -> Iterator[String]:
    """Yield the branches of an ICU message that is nothing but one argument with branches, else all of it.

    Their keys are the selectors that lead to them. Text beside the argument is part of every branch: one text
    is then the whole message.
    """
    found: list[tuple[str, int, int]] = []
    choice = _CHOICE.match(message, begin, end) if depth < DEEPEST_MESSAGE else None
    place = choice.end() if choice else end
    while choice and (branch := _BRANCH.match(message, place, end)):
        close = _closing(message, branch.end(), end)
        found.append((f"{path}/{branch[1]}", branch.end(), close))
        place = close + 1
    if not found or message[place:end].strip() != "}":
        yield String(path, message[begin:end], begin, end)
        return
    for key, first, last in found:
        yield from branches(message, first, last, key, depth + 1)


def _closing(message: str, begin: int, end: int) -> int:
    """The place of the brace that closes what begins; `end` without one."""
    depth = 0
    for piece in _MESSAGE_PIECE.finditer(message, begin, end):
        depth += {"{": 1, "}": -1}.get(piece[0], 0)
        if depth < 0:
            return piece.start()
    return end


def written(text: str, charset: Charset, before: str) -> str:
    """A string as JSON, with references where the one before has some; a branch without quotation marks."""
    string = json.dumps(text, ensure_ascii=re.search(r"\\u[0-9a-fA-F]{4}", before) is not None)
    return string if before.startswith('"') else string[1:-1]


def _parse(label: str, content: bytes) -> Contents:
    text, charset = decoded(label, content)
    try:
        document = parse_json(text, repeated=True)
    except ValueError as error:
        raise CorpusError(f"{label}: not JSON ({error}): correct it") from error
    if not isinstance(document, dict | list):
        raise CorpusError(f"{label}: no texts in it: give an object with texts by key")
    found = [value for value in _walk(text) if value.end >= 0]
    locale = next((value for value in found if value.keys == (LOCALE,)), None)
    entries = _extension_entries(found)
    strings = (
        string
        for value in found
        if is_text(value.text)
        and not any(key.startswith("@") for key in value.keys)
        and not any(value.keys[:n] in entries and value.keys[n] != "message" for n in range(len(value.keys)))
        for string in _strings(value, text)
    )

    def head(target: str) -> Iterator[Edit]:
        if locale is not None:
            yield Edit(locale.begin, locale.end, json.dumps(target.replace("-", "_")))

    return Contents(text, charset, strings, locale.text if locale else None, head)


def _strings(value: Value, text: str) -> Iterator[String]:
    """Yield the texts of a string: all of it, or the branches of a message."""
    key, (whole, *others) = "/".join(value.keys), branches(text, value.begin + 1, value.end - 1)
    if not others:
        yield String(key, value.text, value.begin, value.end)
        return
    for branch in (whole, *others):
        yield branch._replace(key=key + branch.key, text=json.loads(f'"{branch.text}"'), message=key)


def _extension_entries(found: list[Value]) -> set[tuple[str, ...]]:
    """The keys of objects that have a message and nothing but what an entry of a browser extension has."""
    members: dict[tuple[str, ...], set[str]] = {}
    for value in found:
        members.setdefault(value.keys[:-1], set()).add(value.keys[-1])
    return {
        keys for keys, names in members.items() if "message" in names and names <= EXTENSION_ENTRY and keys
    }


FORMAT = Keyed(_parse, written)
