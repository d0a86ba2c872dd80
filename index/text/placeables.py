"""Placeables, as CAT tools call them: tags, placeholders and numbers, which a translation repeats."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Literal, NamedTuple, cast

Kind = Literal["tags", "placeholders", "numbers"]

# HTML and XML; printf and Python's %(name)s; {0}, {{name}}, ${name}, %{name}, {0,number}; the number of an
# ICU plural (#); the style of a subtitle ({\an8}); digits with what groups them.
_TAG = r"</?[A-Za-z][^<>]{0,500}>|<!--.{0,500}?-->"
_PLACEHOLDER = (
    r"(?<![\d%])%(?:\(\w{1,80}\)|\d{1,2}\$)?[-+#0]?\d{0,3}(?:\.\d{1,3})?(?:hh?|ll?|z)?[diuoxXeEfgGcsr@](?!\w)"
    r"|\{\{[^{}]{1,80}\}\}|[$%#]?\{[\w.:!-]{0,80}\}"
    r"|\{\w{1,80}, ?(?:number|date|time)\b[^{}]{0,80}\}|\{\\[^{}]{1,80}\}|(?<!\S)#(?!\S)|%%"
)
_NUMBER = r"\d+(?:[.,:/'’\u00a0\u202f]\d+)*"
_PLACEABLE = re.compile(
    f"(?P<tags>{_TAG})|(?P<placeholders>{_PLACEHOLDER})|(?P<numbers>{_NUMBER})", re.DOTALL
)
_SIGNS = re.compile(r"[<{%$#\d]")  # every placeable contains one of these

# Private-use characters that replace placeables when texts are compared.
_STANDS_FOR: dict[Kind, str] = {"tags": "", "placeholders": "\ue000", "numbers": "\ue001"}


class Placeable(NamedTuple):
    """A tag, placeholder or number, and its position in the text."""

    kind: Kind
    text: str
    start: int
    end: int


def placeables(text: str) -> list[Placeable]:
    """The placeables of a text, in order."""
    if _SIGNS.search(text) is None:  # nearly always
        return []
    return [
        Placeable(cast("Kind", match.lastgroup), match.group(), *match.span())
        for match in _PLACEABLE.finditer(text)
    ]


def numbers(text: str) -> list[str]:
    """The numbers of a text that are written in digits, sorted as strings."""
    return sorted(placeable.text for placeable in placeables(text) if placeable.kind == "numbers")


def without_tags(text: str) -> str:
    """The text without its tags and placeholders, as it is encoded."""
    kept = [placeable for placeable in placeables(text) if placeable.kind != "numbers"]
    if not kept:
        return text
    bare = " ".join(_replaced(text, kept, lambda part: "" if part.kind == "tags" else " ").split())
    return bare if any(character.isalnum() for character in bare) else text


def skeleton(text: str) -> str:
    """The text without tags, with one character for each placeholder and for each number."""
    parts = placeables(text)
    return " ".join(_replaced(text, parts, lambda part: _STANDS_FOR[part.kind]).split()) if parts else text


def put_back(question: str, original: str, answer: str) -> str:
    """Put the placeholders and numbers of the `question` into the answer, which translates `original`.

    Each one that differs must occur in the answer exactly as often as in the original, and numbers must have
    the same signs between their digits: 500 becomes 250, not 1,500, which is 1.5 elsewhere. Otherwise the
    answer is returned unchanged.
    """
    in_question, in_original = _plain(question), _plain(original)
    if list(map(_form, in_question)) != list(map(_form, in_original)):
        return answer
    swaps = {old.text: new.text for old, new in zip(in_original, in_question, strict=True)}
    if any(swaps[old.text] != new.text for old, new in zip(in_original, in_question, strict=True)):
        return answer  # one number of the original corresponds to two of the question
    in_answer = _plain(answer)
    counts, answer_counts = Counter(p.text for p in in_original), Counter(p.text for p in in_answer)
    changed = {old: new for old, new in swaps.items() if old != new}
    if any(answer_counts[old] != counts[old] for old in changed):
        return answer
    return _replaced(answer, in_answer, lambda part: changed.get(part.text, part.text))


def _form(part: Placeable) -> tuple[Kind, list[str]]:
    return part.kind, re.findall(r"\D", part.text) if part.kind == "numbers" else []


def _plain(text: str) -> list[Placeable]:
    return [placeable for placeable in placeables(text) if placeable.kind != "tags"]


def _replaced(text: str, replaced: list[Placeable], by: Callable[[Placeable], str]) -> str:
    parts, end = [], 0
    for placeable in replaced:
        parts += [text[end : placeable.start], by(placeable)]
        end = placeable.end
    return "".join([*parts, text[end:]])
