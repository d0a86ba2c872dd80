"""Normalisation of text for training, index and service alike: cleaning, and division into words."""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

from index.languages import DOTLESS_LANGUAGES, ELIDING_LANGUAGES

LONGEST_CLITIC = 4  # "dell'", "qu'"
JOINERS = "\u200c\u200d"  # zero-width (non-)joiner: spelling in Persian and Indic scripts, and emoji
MOST_MARKS, GRAPHEME_JOINER = 30, "\u034f"  # combining marks after a letter, and what divides longer runs
PRE_TOKENS_CACHED = 1 << 14  # whose words are remembered
QUESTION_MARK = re.compile("[?？؟՞፧‽⁇⁈⁉]|(?<=[\u0370-\u03ff\u1f00-\u1fff]);")  # the last is that of Greek
END_PUNCTUATION = ".,!?"  # never part of the word before them
SENTENCE_ENDS = " .?!…,;:。？！؟।"
OUTSIDE_WORDS = re.compile(r"(?<!\w)'|'(?!\w)")  # a quotation mark; inside a word it is an apostrophe
APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'"})


def clean(line: str) -> str:
    """NFC, white space collapsed to single spaces, control and invisible formatting characters dropped."""
    # What is printable has no white space but spaces.
    if not line.isprintable() or "  " in line or line.strip() is not line:
        line = " ".join(line.split())
        if not line.isprintable():
            line = " ".join("".join(map(_visible, line)).split())
    if unicodedata.is_normalized("NFC", line):
        return line
    return unicodedata.normalize("NFC", _stream_safe(line))


def _stream_safe(line: str) -> str:
    """Divide long runs of combining marks, which Python sorts slowly (Stream-Safe Text Format, UAX #15)."""
    characters: list[str] = []
    marks = 0
    for character in line:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks > MOST_MARKS:
            characters.append(GRAPHEME_JOINER)
            marks = 1
        characters.append(character)
    return "".join(characters)


def _visible(character: str) -> str:
    kind = unicodedata.category(character)
    if kind in ("Cc", "Cs") or (kind == "Cf" and character not in JOINERS):
        return ""
    return character


class CharacterTable(dict[int, str | None]):
    """A table for `str.translate`: what `becomes` says of each character, None to drop it, asked once."""

    def __init__(self, becomes: Callable[[str], str | None]) -> None:
        super().__init__()
        self._becomes = becomes

    def __missing__(self, code: int) -> str | None:
        self[code] = becomes = self._becomes(chr(code))
        return becomes


def _without_punctuation(character: str) -> str:
    """Punctuation and modifiers such as ` become spaces."""
    kind = unicodedata.category(character)
    return " " if kind.startswith("P") or kind == "Sk" else character


_WITHOUT_PUNCTUATION = CharacterTable(_without_punctuation)
_WITHOUT_PUNCTUATION.update({ord("'"): "'", **APOSTROPHES})


def bare(text: str) -> str:
    """Remove punctuation from a clean text, except apostrophes inside words.

    The result is empty if the text is nothing but punctuation.
    """
    text = text.translate(_WITHOUT_PUNCTUATION)
    if "'" in text:
        text = OUTSIDE_WORDS.sub(" ", text)
    return " ".join(text.split())


def as_encoded(text: str) -> str:
    """A clean text as an encoder bundle reads it: `bare`, but a question ends in " ?", in all scripts.

    A question and its statement may have the same words; how else a sentence ends says little of its meaning.
    """
    asks, text = QUESTION_MARK.search(text), bare(text)
    return f"{text} ?" if asks and text else text


def lowered(text: str, language: str = "") -> str:
    """A text in lower case, as long as it is: İ becomes i, and I in languages that have it becomes ı."""
    text = text.replace("İ", "i")
    return (text.replace("I", "ı") if language in DOTLESS_LANGUAGES else text).lower()


def words(text: str, language: str) -> list[str]:
    """The lower-cased words of a sentence in order, punctuation and symbols dropped.

    Boundaries are ICU's (UAX #29; dictionaries for Chinese, Japanese, Thai, Lao, Khmer, Burmese).
    """
    if (alone := text.rstrip(END_PUNCTUATION)).isalpha() and alone.isascii():
        return [lowered(alone, language)]
    # Imported here: ICU's data is 40 MB on disk.
    from icu4py.breakers import WordBreaker

    segments = WordBreaker(lowered(clean(text), language).translate(APOSTROPHES), language)
    parts = [str(segment) for segment in segments]
    return [word for segment in parts if any(map(str.isalnum, segment)) for word in _split(segment, language)]


def words_of(text: str, language: str) -> tuple[str, ...]:
    """The `words` of a text; those between two spaces are remembered, as texts share most of them."""
    return tuple(word for pre_token in text.split(" ") for word in _words_in(pre_token, language))


@lru_cache(PRE_TOKENS_CACHED)
def _words_in(pre_token: str, language: str) -> tuple[str, ...]:
    return tuple(words(pre_token, language))


def _split(word: str, language: str) -> list[str]:
    head, mark, rest = word.partition("'")
    if language in ELIDING_LANGUAGES and rest and len(head) <= LONGEST_CLITIC:
        return [head + mark, rest]
    if language == "en" and rest == "s":
        return [head]
    return [word]
