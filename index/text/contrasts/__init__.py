"""Contrasts: words by which two sentences say opposite things, such as open and closed, left and right, not.

A language is one file, LANG.toml: what its words say on each axis. An axis has values that exclude each
other (`side` has left and right), and a value lists the words that say it. `*` stands for any letters of a
word, `$` after a word for the end of its clause. `negation` is an axis with one value. `ignore` lists phrases
that say nothing of the kind although they contain such words ("good night", "no problem"), `affirmative`
words that only look like negations (Czech "neděle", Sunday).

Values mean the same in every language, so that sentences of two languages can be compared like those of one.
Numbers are compared in number_words.py.
"""

import re
import tomllib
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

from index.languages import has_spaces
from index.text.normalisation import ELIDING_LANGUAGES, bare, clean, words

NEGATION, ORDER, FORM = "negation", "order", "form"
IGNORE, AFFIRMATIVE = "ignore", "affirmative"
CLAUSE_ENDS = re.compile(r"[.,;:!?…。，、；：！？؟،؛।]+")
NOTHING = "\0"  # in no cleaned text
TEXTS_CACHED = 1 << 13
MIN_STEM, LONGEST_ENDING, LONGEST_FUNCTION_WORD = 3, 4, 3  # letters
POSTPOSITIONS = {"hi": ("को", "ने", "से", "का", "की", "के", "में", "पर")}  # which say the part of the word before
ARABIC_PREFIX = re.compile("^(?:وال|ال|ي|ت)")
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
    "a man and a woman" does not exclude "a man". Within any one language, the same words in other places or
    forms are a contrast, too ("the dog bites the man"). Of languages without a file nothing else is known.
    """
    found = []
    if {source, target} <= known_languages():
        asked, answered = said(question, source), said(answer, target)
        found = [
            Contrast(axis, _words(asked.get(axis, {})), _words(answered.get(axis, {})))
            for axis in sorted({*asked, *answered})
            if _exclude(axis, set(asked.get(axis, ())), set(answered.get(axis, ())))
        ]
    if source == target and (rearranged := _rearranged(question, answer, source)):
        found.append(rearranged)
    return found


def _rearranged(question: str, answer: str, language: str) -> Contrast | None:
    """What two sentences of the same words say differently by the order or the forms of these words.

    One phrase that moves changes nothing ("today we eat", "we eat today"), two that change places do, and so
    do other endings of words that stay in place ("the guest is here", "the guests are here").
    """
    asked, answered = _units(question, language), _units(answer, language)
    partners = _partners(asked, answered, language)
    if partners is None:
        return None
    order = [place for place in partners if place is not None]
    # An inflected word ends otherwise; one that ends alike is misspelled.
    changed = {
        place: word
        for word, place in zip(answered, partners, strict=True)
        if place is not None and word[-1] != asked[place][-1]
    }
    if order == sorted(order):
        if not changed:
            return None
        return Contrast(FORM, tuple(asked[place] for place in changed), tuple(changed.values()))
    exchanged = _exchanged(order, changed)
    if not exchanged:
        return None
    return Contrast(ORDER, *(2 * (tuple(asked[place] for place in exchanged),)))


def _units(text: str, language: str) -> list[str]:
    """The words of a text, in languages with postpositions together with these."""
    units: list[str] = []
    for word in words(text, language):
        if units and word in POSTPOSITIONS.get(language, ()):
            units[-1] += f" {word}"
        else:
            units.append(word)
    return units


def _partners(asked: Sequence[str], answered: Sequence[str], language: str) -> list[int | None] | None:
    """The place of each answered word among those asked, by itself or by its stem.

    None stands for a short word without a partner, such as an article. None instead of the list says that a
    longer word of either sentence has no partner.
    """
    if abs(len(asked) - len(answered)) > 2 or list(asked) == list(answered):
        return None
    free = dict.fromkeys(range(len(asked)))
    partners: list[int | None] = [None] * len(answered)
    for same in (str.__eq__, lambda one, other: _same_stem(one, other, language)):
        for number, word in enumerate(answered):
            if partners[number] is None:
                found = next((place for place in free if same(word, asked[place])), None)
                if found is not None:
                    partners[number] = found
                    del free[found]
    alone = [word for word, place in zip(answered, partners, strict=True) if place is None]
    if any(len(word) > LONGEST_FUNCTION_WORD for word in [*alone, *(asked[place] for place in free)]):
        return None
    return partners


def _same_stem(one: str, other: str, language: str) -> bool:
    one, other = (_plain(word, language) for word in (one, other))
    pairs = enumerate(zip(one, other, strict=False))
    common = next((place for place, (first, second) in pairs if first != second), min(len(one), len(other)))
    return common >= MIN_STEM and max(len(one), len(other)) - common <= LONGEST_ENDING


def _plain(word: str, language: str) -> str:
    """A word without accents, and in Arabic without article and the prefixes of verbs."""
    if language == "ar":
        word = ARABIC_PREFIX.sub("", word)
    return "".join(sign for sign in unicodedata.normalize("NFD", word) if unicodedata.category(sign) != "Mn")


def _exchanged(order: Sequence[int], changed: Collection[int]) -> list[int]:
    """The places that change with each other: A M B becomes B M A; without M only if they change forms."""
    differ = [number for number, place in enumerate(order) if place != sorted(order)[number]]
    now = list(order[differ[0] : differ[-1] + 1])
    before = sorted(now)
    for first in range(1, len(before)):
        for last in range(1, len(before) - first + 1):
            end = len(before) - last
            ends = [*before[:first], *before[end:]]
            moved_alone = first == end and not any(place in changed for place in ends)
            if now == [*before[end:], *before[first:end], *before[:first]] and not moved_alone:
                return ends
    return []


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
    ignored, affirmative, axes = _lexicon(language)
    for clause in _clauses(text, language):
        rest = ignored.sub(" ", clause)
        for axis, (pattern, values) in axes.items():
            for match in pattern.finditer(affirmative.sub(" ", rest) if axis == NEGATION else rest):
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
def _lexicon(
    language: str,
) -> tuple[re.Pattern[str], re.Pattern[str], Mapping[str, tuple[re.Pattern[str], Sequence[str]]]]:
    """The patterns of what is ignored and of what is affirmative, and of each axis that of its values.

    Group n + 1 of the pattern of an axis finds the value number n that stands beside it.
    """
    axes = tomllib.loads(Path(__file__).with_name(f"{language}.toml").read_text("utf-8"))
    ignored, affirmative = (
        _pattern({name: axes.pop(name, [NOTHING])}, language)[0] for name in (IGNORE, AFFIRMATIVE)
    )
    axes[NEGATION] = {NEGATION: axes[NEGATION]}
    return ignored, affirmative, {axis: _pattern(values, language) for axis, values in axes.items()}


def _pattern(values: Mapping[str, Sequence[str]], language: str) -> tuple[re.Pattern[str], Sequence[str]]:
    """A pattern that finds the phrases of each value, the longest of overlapping ones; its groups' values."""
    phrases = [(phrase, value) for value, phrases in values.items() for phrase in phrases]
    phrases.sort(key=lambda pair: -len(pair[0]))
    parts = [re.escape(phrase.removesuffix("$")).replace(r"\*", "[^ ]*") for phrase, _ in phrases]
    ends = ["(?= $)" if phrase.endswith("$") else "" for phrase, _ in phrases]
    joined = "|".join(f"({part}){end}" for part, end in zip(parts, ends, strict=True))
    pattern = f"(?:{joined})" if not has_spaces(language) else f"(?<= )(?:{joined})(?= )"
    return re.compile(pattern), ["", *(value for _, value in phrases)]
