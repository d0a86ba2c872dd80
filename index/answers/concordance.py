"""Concordance: the sentences of a language that have a word or phrase in them, with their translations."""

import re
import string
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from index.answers.sentence_index import SentenceIndex
from index.formats.sentence import Sentence
from index.languages import is_unspaced
from index.text.normalisation import clean

ROWS_READ = 1 << 14  # at a time
MOST_ROWS = 1 << 20  # read for one page
MOST_TRANSLATIONS = 20  # of a sentence into one language

TOPIC = "topic"  # the column of a table that makes its sentences phrases
LETTER_CLASSES = r"\pL\pM\pN_"  # as RE2 spells them


@dataclass(frozen=True)
class Occurrence:
    """A sentence, where the phrase stands in its text (begin and end in characters), and its translations."""

    sentence: Sentence
    places: tuple[tuple[int, int], ...]
    translations: Mapping[str, Sequence[Sentence]]


@dataclass(frozen=True)
class Page:
    """Occurrences in corpus order; `next` is the row where the next page begins, None on the last page."""

    occurrences: Sequence[Occurrence]
    next: int | None


def concordance(
    indexes: Mapping[str, SentenceIndex],
    phrase: str | None,
    source: str,
    targets: Sequence[str],
    *,
    begin: int = 0,
    count: int = 20,
) -> Page:
    """Find up to `count` sentences in `source` that contain a phrase, from row `begin` on.

    Case is ignored, and the phrase must be whole words if its script separates words. Without a phrase, every
    sentence matches. A page reads at most MOST_ROWS rows, so a page with fewer sentences may not be the last.
    """
    index = indexes[source]
    if phrase is None:
        end = min(len(index), begin + count)
        rows = list(range(begin, end))
        return Page(_occurrences(indexes, rows, None, source, targets), end if end < len(index) else None)
    phrase = clean(phrase)
    end = min(len(index), begin + MOST_ROWS)
    rows = []
    for row in _rows(index, _pattern(phrase), begin, end):
        if len(rows) == count:
            return Page(_occurrences(indexes, rows, phrase, source, targets), rows[-1] + 1)
        rows.append(row)
    return Page(_occurrences(indexes, rows, phrase, source, targets), end if end < len(index) else None)


@dataclass(frozen=True)
class Phrase:
    """A sentence whose file names its topic, and its translation in the corpus."""

    sentence: Sentence
    translation: Sentence


def phrases(index: SentenceIndex, target: SentenceIndex) -> list[Phrase]:
    """Find the sentences with a `topic` in their metadata that the corpus translates, in its order."""
    found = []
    for row in index.rows_that_say(TOPIC):
        if (sentence := index.sentence(row)).metadata.get(TOPIC):
            found += [Phrase(sentence, other) for other in _translations(index, target, row)[:1]]
    return found


def _rows(index: SentenceIndex, pattern: str, begin: int, end: int) -> Iterator[int]:
    for start in range(begin, end, ROWS_READ):
        texts = index.texts(start, min(start + ROWS_READ, end))
        matches = pc.match_substring_regex(texts, pattern, ignore_case=True)
        for place in pc.indices_nonzero(matches).to_pylist():
            yield start + place


def _occurrences(
    indexes: Mapping[str, SentenceIndex],
    rows: Sequence[int],
    phrase: str | None,
    source: str,
    targets: Sequence[str],
) -> list[Occurrence]:
    index = indexes[source]
    return [
        Occurrence(
            sentence := index.sentence(row),
            () if phrase is None else tuple(_places(phrase, sentence.text)),
            {code: _translations(index, indexes[code], row) for code in targets},
        )
        for row in rows
    ]


def _translations(index: SentenceIndex, target: SentenceIndex, row: int) -> list[Sentence]:
    return [target.sentence(other) for other in index.translations(row, target)[:MOST_TRANSLATIONS]]


def _pattern(phrase: str) -> str:
    """The RE2 regular expression that finds a phrase."""
    escaped = "".join(
        f"\\{character}" if character in string.punctuation else character for character in phrase
    )
    before = rf"(?:^|[^{LETTER_CLASSES}])" if _script_has_spaces(phrase[0]) else ""
    after = rf"(?:$|[^{LETTER_CLASSES}])" if _script_has_spaces(phrase[-1]) else ""
    return f"{before}{escaped}{after}"


def _places(phrase: str, text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(re.escape(phrase), text, re.IGNORECASE):
        begin, end = match.span()
        before, after = text[begin - 1 : begin], text[end : end + 1]
        if not (_in_one_word(before, phrase[0]) or _in_one_word(after, phrase[-1])):
            yield begin, end


def _in_one_word(neighbour: str, character: str) -> bool:
    """Whether a character and its neighbour, which may be empty, belong to the same word."""
    return bool(neighbour) and _script_has_spaces(character) and _is_letter(neighbour)


def _is_letter(character: str) -> bool:
    return character == "_" or unicodedata.category(character)[0] in "LMN"


def _script_has_spaces(character: str) -> bool:
    """Whether a character is a letter or digit of a script that separates words by spaces."""
    return _is_letter(character) and not is_unspaced(character)
