"""Contrasts: words by which two sentences say opposite things, such as open and closed, left and right, not.

A language is one file, LANG.toml: what its words say on each axis. An axis has values that exclude each
other (`side` has left and right), and a value lists the words that say it. `*` stands for any letters of a
word, `$` after a word for the end of its clause. `negation` is an axis with one value. `ignore` lists phrases
that say nothing of the kind although they contain such words ("good night", "no problem").

Values mean the same in every language, so that sentences of two languages can be compared like those of one.
Numbers are compared in number_words.py.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

from index.languages import has_spaces
from index.text.normalisation import ELIDING_LANGUAGES, bare, clean, words

NEGATION, ORDER = "negation", "order"
IGNORE = "ignore"
CLAUSE_ENDS = re.compile(r"[.,;:!?…。，、；：！？؟،؛।]+")
TEXTS_CACHED = 1 << 13
TURKISH_I = str.maketrans({"I": "ı", "İ": "i"})

Said = Mapping[str, Mapping[str, Sequence[str]]]  # axis -> value -> the words that say it


@dataclass(frozen=True)
class Contrast:
    """An `axis` on which two sentences differ, and the words of each that say so; empty where none does."""

    axis: str
    question: tuple[str, ...] = field(default=())
    answer: tuple[str, ...] = field(default=())


@cache
def known_languages() -> frozenset[str]:
    """The languages whose contrasts are known."""
    return frozenset(path.stem for path in Path(__file__).parent.glob("*.toml"))


def contrasts(question: str, source: str, answer: str, target: str) -> list[Contrast]:
    """Find on which axes an answer in `target` says something else than the question in `source`.

    A negation that only one of them has is a contrast. On other axes each must say what the other does not:
    "a man and a woman" does not exclude "a man". Within a language, words that change places around others
    are a contrast, too ("the dog bites the man"). Empty if the words of either language are unknown.
    """
    found = []
    if {source, target} <= known_languages():
        asked, answered = said(question, source), said(answer, target)
        found = [
            Contrast(axis, _words(asked.get(axis, {})), _words(answered.get(axis, {})))
            for axis in sorted({*asked, *answered})
            if _exclude(axis, set(asked.get(axis, ())), set(answered.get(axis, ())))
        ]
    if source == target and (exchanged := _exchanged(words(question, source), words(answer, source))):
        found.append(Contrast(ORDER, exchanged, exchanged))
    return found


def _exchanged(question: Sequence[str], answer: Sequence[str]) -> tuple[str, ...]:
    """The words that change places around others: of A M B and B M A, all but equal ends. Empty if none do.

    That one phrase moves, as in "today we eat" and "we eat today", exchanges nothing.
    """
    if len(question) != len(answer) or list(question) == list(answer) or Counter(question) != Counter(answer):
        return ()
    differ = [place for place, pair in enumerate(zip(question, answer, strict=True)) if pair[0] != pair[1]]
    asked, answered = question[differ[0] : differ[-1] + 1], answer[differ[0] : differ[-1] + 1]
    for first in range(1, len(asked) - 1):
        for last in range(1, len(asked) - first):
            middle = asked[first : len(asked) - last]
            if [*asked[len(asked) - last :], *middle, *asked[:first]] == list(answered):
                return (*asked[:first], *asked[len(asked) - last :])
    return ()


def _exclude(axis: str, asked: set[str], answered: set[str]) -> bool:
    if axis == NEGATION:
        return asked != answered
    return bool(asked - answered) and bool(answered - asked)


def _words(values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for found in values.values() for word in found))


@lru_cache(TEXTS_CACHED)
def said(text: str, language: str) -> Said:
    """What a text says on each axis, with the words that say it, lower-cased."""
    found: dict[str, dict[str, list[str]]] = {}
    ignored, axes = _lexicon(language)
    for clause in _clauses(text, language):
        rest = ignored.sub(" ", clause)
        for axis, (pattern, values) in axes.items():
            for match in pattern.finditer(rest):
                value = values[match.lastindex or 0]
                found.setdefault(axis, {}).setdefault(value, []).append(match.group())
    return found


def _clauses(text: str, language: str) -> list[str]:
    """The clauses of a text, lower-cased, their words between single spaces; spaces at both ends."""
    text = clean(text).replace("’", "'")
    text = text.translate(TURKISH_I).lower() if language == "tr" else text.lower()
    if language in ELIDING_LANGUAGES:
        text = text.replace("'", "' ")
    return [f" {bared} " for clause in CLAUSE_ENDS.split(text) if (bared := _bare(clause))]


def _bare(clause: str) -> str:
    # The apostrophe of a clitic ("n' ai") is no quotation mark, which `bare` would drop.
    return " ".join(bare(word) + ("'" if word.endswith("'") else "") for word in clause.split() if bare(word))


@cache
def _lexicon(language: str) -> tuple[re.Pattern[str], Mapping[str, tuple[re.Pattern[str], Sequence[str]]]]:
    """The pattern of ignored phrases; of each axis a pattern, whose group n + 1 finds the value number n."""
    axes = tomllib.loads(Path(__file__).with_name(f"{language}.toml").read_text("utf-8"))
    ignored = _pattern({IGNORE: axes.pop(IGNORE)}, language)[0]
    axes[NEGATION] = {NEGATION: axes[NEGATION]}
    return ignored, {axis: _pattern(values, language) for axis, values in axes.items()}


def _pattern(values: Mapping[str, Sequence[str]], language: str) -> tuple[re.Pattern[str], Sequence[str]]:
    """A pattern that finds the phrases of each value, the longest of overlapping ones; its groups' values."""
    phrases = [(phrase, value) for value, phrases in values.items() for phrase in phrases]
    phrases.sort(key=lambda pair: -len(pair[0]))
    parts = [re.escape(phrase.removesuffix("$")).replace(r"\*", "[^ ]*") for phrase, _ in phrases]
    ends = ["(?= $)" if phrase.endswith("$") else "" for phrase, _ in phrases]
    joined = "|".join(f"({part}){end}" for part, end in zip(parts, ends, strict=True))
    pattern = f"(?:{joined})" if not has_spaces(language) else f"(?<= )(?:{joined})(?= )"
    return re.compile(pattern), ["", *(value for _, value in phrases)]
