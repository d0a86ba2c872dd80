"""Number words: what numbers a text has, in figures and in words ("2 dogs", "two dogs", "deux chiens").

The words are those that ICU writes from 2 to 99, and whole hundreds. One is left out, since in most languages
it is an article.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

from index.text.normalisation import words
from index.text.placeables import marks

SPELLED = (*range(2, 100), *range(100, 1001, 100))
FIGURES = re.compile(r"(?<![\w.,:/-])[0-9]{1,4}(?!\w|[.,:/][0-9])")
# ICU's names for rules; a language that lacks one writes the number by its first rule instead.
SPELLING_RULES = (
    "cardinal",
    "cardinal-masculine",
    "cardinal-feminine",
    "cardinal-neuter",
    "cardinal-alternate2",
)

Number = int | str  # the value; of one such as 12:30 its parts, since others write 12.30


def numbers_in(text: str, text_words: Sequence[str], language: str) -> Counter[Number]:
    """Count the numbers of a text, given with its lower-cased words in order."""
    counts: Counter[Number] = Counter(_value(number, language) for number in marks(text, "numbers"))
    values, lengths = _spelled_out(language)
    start = 0
    while start < len(text_words):
        longest = lengths.get(text_words[start])
        if longest is None:  # nearly always
            start += 1
            continue
        phrases = (tuple(text_words[start : start + length]) for length in range(longest, 0, -1))
        phrase = next((phrase for phrase in phrases if phrase in values), None)
        if phrase is not None:
            counts[values[phrase]] += 1
        start += len(phrase or "1")
    return counts


def may_have_number(text_words: Sequence[str], language: str) -> bool:
    """Whether any of some lower-cased words is, or begins, a number in words."""
    starts = _spelled_out(language)[1].keys()
    return not starts.isdisjoint(text_words)


def in_words(text: str, language: str, frequency: Callable[[str], int]) -> str:
    """A text with its figures in words, where these are more frequent. `frequency`: of a word."""

    def spelled(match: re.Match[str]) -> str:
        figures, values = match.group(), _spelled_out(language)[0]
        phrases = [" ".join(phrase) for phrase, number in values.items() if number == int(figures)]
        best = max(phrases, key=lambda phrase: frequency(phrase.split()[0]), default=figures)
        return best if frequency(best.split()[0]) > frequency(figures) else figures

    return FIGURES.sub(spelled, text)


def contradict(some: Counter[int], others: Counter[int]) -> bool:
    """Whether each of two texts has a number that the other lacks; fewer numbers contradict nothing."""
    return bool(some - others) and bool(others - some)


def _value(number: str, language: str) -> Number:
    """The value of a number in figures: 1.500 is 1500 in German and 1.5 in English."""
    if read := _figures(language).fullmatch(number):
        whole, part = re.sub(r"\D", "", read[1]), (read[2] or "").rstrip("0")
        number = f"{whole}.{part}" if part else whole
    else:
        number = " ".join(re.findall(r"\d+", number))
    return int(number) if number.isdecimal() and len(number) <= 640 else number  # Python may refuse more


@cache
def _figures(language: str) -> re.Pattern[str]:
    """A pattern of numbers as ICU writes them: the whole part with what groups its digits, and the rest."""
    from icu4py.messageformat import MessageFormat  # imported here for the reason given in `words`

    signs = re.findall(r"\D", MessageFormat("{number, number}", language).format({"number": 12345.6}))
    group, point = re.escape(signs[0]), re.escape(signs[-1])
    return re.compile(rf"(\d{{1,3}}(?:[{group}\u00a0\u202f'’]\d{{3}})+|\d+)(?:{point}(\d+))?")


@cache
def _spelled_out(language: str) -> tuple[dict[tuple[str, ...], int], dict[str, int]]:
    """The numbers in words, with their values; and by first word, the most words that one has."""
    from icu4py.messageformat import MessageFormat  # imported here for the reason given in `words`

    formats = [MessageFormat(f"{{number, spellout,%spellout-{rule}}}", language) for rule in SPELLING_RULES]
    values = {
        tuple(words(spelling.format({"number": value}), language)): value
        for value in reversed(SPELLED)
        for spelling in formats
    }
    lengths: dict[str, int] = {}
    for phrase in values:
        lengths[phrase[0]] = max(len(phrase), lengths.get(phrase[0], 0))
    return values, lengths
