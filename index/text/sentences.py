"""Sentence segmentation by ICU's rules for the language (UAX #29), without breaks after abbreviations."""

import re

from index.languages import ORDINAL_LANGUAGES

MOST_SENTENCES = 50  # a longer text is taken as one

# The end of a sentence that is followed by more text, after a space in languages that use spaces.
_END = re.compile(r"[.!?…؟۔।॥։።]['\"”’»)\]]*\s+\S|[。！？｡][\s'\"”’»」』）]*[^\s'\"”’»」』）]")

# What is written with a full stop before something else, of which ICU knows only some: titles before a name,
# abbreviations before a number, and single letters, as in "z. B." and "J. Smith", but not "I".
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:Dr|Dra|Drs|Fr|Hr|Ing|Mgr|Mlle|Mme|Mr|Mrs|Ms|Prof|Sr|Sra|Srta|St|Sta|Ste"
    r"|approx|ca|Nr|nº|pp|tel|Tel|vs|(?!I\b)[^\W\d_])\.\s+$"
)
_ORDINAL = re.compile(r"(?:^|[\s(])\d{1,2}\.\s+$")


def sentences(text: str, language: str) -> list[str]:
    """The sentences of a cleaned text; the text itself where it is one, or more than MOST_SENTENCES."""
    parts = sentence_parts(text, language)
    return [part.strip() for part in parts] if 1 < len(parts) <= MOST_SENTENCES else [text]


def sentence_parts(text: str, language: str) -> list[str]:
    """A text divided behind the end of each sentence and the space after it; joined, they are the text."""
    if not may_be_several(text):  # nearly always
        return [text]
    # Imported here: ICU's data is 40 MB on disk, and most texts are one sentence.
    from icu4py.breakers import SentenceBreaker

    parts: list[list[str]] = []
    for segment in map(str, SentenceBreaker(text, f"{language}@ss=standard")):
        punctuation = not any(character.isalnum() for character in segment)  # by itself no sentence
        before = parts[-1][-1] if parts else ""  # whose full stop may belong to its last word
        ordinal = language in ORDINAL_LANGUAGES and _ORDINAL.search(before)
        if parts and (punctuation or ordinal or _ABBREVIATION.search(before)):
            parts[-1].append(segment)
        else:
            parts.append([segment])
    return ["".join(part) for part in parts]


def may_be_several(text: str) -> bool:
    """Whether a text may have several sentences: whether text follows the possible end of a sentence."""
    return _END.search(text) is not None
