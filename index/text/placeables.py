"""Placeables, as CAT tools call them: tags, placeholders and numbers, which a translation repeats."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Literal, get_args

PlaceableKind = Literal["tags", "placeholders", "numbers"]
KINDS: tuple[PlaceableKind, ...] = get_args(PlaceableKind)

# HTML and XML; printf and Python's %(name)s; {0}, {{name}}, ${name}, %{name}, {0,number}; [X0X], by which
# Weblate hides one; the number of an ICU plural (#); the style of a subtitle ({\an8}); digits with what
# groups them.
_TAG = r"</?[A-Za-z][^<>]{0,500}>|<!--.{0,500}?-->"
_PLACEHOLDER = (
    r"(?<![\d%])%(?:\(\w{1,80}\)|\d{1,2}\$)?[-+#0]?\d{0,3}(?:\.\d{1,3})?(?:hh?|ll?|z)?[diuoxXeEfgGcsr@](?!\w)"
    r"|\{\{[^{}]{1,80}\}\}|[$%#]?\{[\w.:!-]{0,80}\}|\[X\d{1,9}X\]"
    r"|\{\w{1,80}, ?(?:number|date|time)\b[^{}]{0,80}\}|\{\\[^{}]{1,80}\}|(?<!\S)#(?!\S)|%%"
)
_SEPARATOR = re.compile("[.,'’\u00a0\u202f]")
_NUMBER = r"\d+(?:[.,:/'’\u00a0\u202f]\d+)*"
_PLACEABLE = re.compile(
    f"(?P<tags>{_TAG})|(?P<placeholders>{_PLACEHOLDER})|(?P<numbers>{_NUMBER})", re.DOTALL
)
_SIGNS = re.compile(r"[<{%$#\d]")  # every placeable contains one of these

# Private-use characters that replace placeables when texts are compared.
_STANDS_FOR = {"tags": "", "placeholders": "\ue000", "numbers": "\ue001"}


def placeables(text: str, *kinds: PlaceableKind) -> list[re.Match[str]]:
    """The placeables of a text, or those of some kinds, in order; the `lastgroup` of each is its kind."""
    if _SIGNS.search(text) is None:  # nearly always
        return []
    return [found for found in _PLACEABLE.finditer(text) if not kinds or found.lastgroup in kinds]


def marks(text: str, *kinds: PlaceableKind) -> list[str]:
    """What `placeables` finds, as it is written."""
    return [found[0] for found in placeables(text, *kinds)]


def codes(text: str) -> Counter[str]:
    """How often a text has each tag and placeholder."""
    return Counter(marks(text, "tags", "placeholders"))


def without_tags(text: str) -> str:
    """The text without its tags and placeholders, as it is encoded."""
    kept = placeables(text, "tags", "placeholders")
    if not kept:
        return text
    bare = " ".join(_replaced(text, kept, lambda part: "" if part.lastgroup == "tags" else " ").split())
    return bare if any(character.isalnum() for character in bare) else text


def skeleton(text: str) -> str:
    """The text without tags, with one character for each placeholder and for each number."""
    if not (parts := placeables(text)):
        return text
    return " ".join(_replaced(text, parts, lambda part: _STANDS_FOR[part.lastgroup or ""]).split())


def put_back(question: str, original: str, answer: str) -> str:
    """Put the placeables of the `question` into the answer, which translates `original`.

    Each one that differs must occur in the answer exactly as often as in the original, tags must have the
    same names (else they are left out), and numbers the same signs between their digits: 500 becomes 250, not
    1,500, which is 1.5 elsewhere. An answer with 1.234,50 for 1,234.50 gets 9.876,00 for 9,876.00. Otherwise
    it is returned unchanged.
    """
    alike = list(map(_form, placeables(question))) == list(map(_form, placeables(original)))
    kinds: tuple[PlaceableKind, ...] = () if alike else ("placeholders", "numbers")
    asked, known, given = (placeables(text, *kinds) for text in (question, original, answer))
    swaps = {(_pieces(old), _pieces(new)) for old, new in zip(known, asked, strict=False)}
    changed = {old: new for old, new in swaps if old != new}
    counts, given_counts = (Counter(map(_pieces, parts)) for parts in (known, given))
    if (
        list(map(_form, asked)) != list(map(_form, known))
        or len(dict(swaps)) < len(swaps)  # one number of the original corresponds to two of the question
        or any(given_counts[old] != counts[old] for old in changed)
    ):
        return answer
    return _replaced(answer, given, lambda part: _joined(changed.get(_pieces(part), _pieces(part)), part[0]))


def _pieces(part: re.Match[str]) -> tuple[str, ...]:
    """A number without the signs that languages write differently, 1,234.50 and 1.234,50; all else whole."""
    return tuple(_SEPARATOR.split(part[0])) if part.lastgroup == "numbers" else (part[0],)


def _joined(pieces: Sequence[str], written: str) -> str:
    """Pieces with the signs between them that a number has as it is `written`."""
    signs = _SEPARATOR.findall(written)[: len(pieces) - 1]
    return "".join(map("".join, zip_longest(pieces, signs, fillvalue="")))


def _form(part: re.Match[str]) -> tuple[str, list[str]]:
    signs = {"tags": r"^</?[\w.:-]+|^<!|/>$", "placeholders": "^$", "numbers": r"\D"}
    kind = part.lastgroup or ""
    return kind, re.findall(signs[kind], part[0])


def _replaced(text: str, replaced: list[re.Match[str]], by: Callable[[re.Match[str]], str]) -> str:
    parts, end = [], 0
    for placeable in replaced:
        parts += [text[end : placeable.start()], by(placeable)]
        end = placeable.end()
    return "".join([*parts, text[end:]])
