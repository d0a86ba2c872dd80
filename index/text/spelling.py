"""Spelling: words that are typed without their accents, as on a keyboard that lacks them.

"Dobre rano" is "Dobré ráno", "fuer" is "für", and Arabic is mostly typed without hamza.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable

from index.text.normalisation import CharacterTable

WORD = re.compile(r"[\w\u0900-\u0963]+")  # with the vowels of Hindi, which are no letters to Python
LATIN_MARKS = re.compile("[\u0300-\u036f]")
# What is typed for letters that are no letter with an accent: the dotless i, hamza, the nasals of Hindi.
TYPED = {"ß": "ss", "æ": "ae", "œ": "oe", "\u093c": ""}
TYPED |= dict(zip("ıłđøёґँأإآةىؤئ", "ildoегंاااهيوي", strict=True))
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


def _typed(character: str) -> str:
    if "LATIN" in unicodedata.name(character, ""):
        character = TYPED.get(character) or LATIN_MARKS.sub("", unicodedata.normalize("NFD", character))
    return TYPED.get(character, character)


_PLAIN = CharacterTable(_typed)


def typed_forms(word: str, language: str) -> set[str]:
    """A lower-cased word as it may be typed without its marks; without the word itself."""
    forms = {word.translate(_PLAIN)}
    return (forms | {word.translate(UMLAUTS)} if language == "de" else forms) - {word}


def spellings(words: Iterable[str], language: str) -> dict[str, str]:
    """What is typed for words -> the word, the first of several."""
    found: dict[str, str] = {}
    for word in words:
        for form in typed_forms(word, language):
            found.setdefault(form, word)
    return found


def respelled(text: str, language: str, spelled: Callable[[str], str | None]) -> str:
    """A text in which each word that is typed without some of its marks has them, in lower case.

    `spelled`: the word that may be meant by a lower-cased word, if there is one.
    """

    def as_spelled(match: re.Match[str]) -> str:
        typed = match.group().lower()
        found = spelled(typed) or next(filter(None, map(spelled, typed_forms(typed, language))), None)
        return found if found and marks(found) > marks(typed) else match.group()

    return WORD.sub(as_spelled, text)


def marked(text: str) -> bool:
    """Whether any letter of a text has a mark that need not be typed."""
    return text.translate(_PLAIN) != text


def marks(text: str) -> int:
    """The number of letters that have marks which need not be typed."""
    return sum(character.translate(_PLAIN) != character for character in text)
