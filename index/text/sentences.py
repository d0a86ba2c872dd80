"""Dividing a text into its sentences, by ICU's rules for the language (UAX #29) without a break after its
abbreviations, and putting translations of sentences together."""

import re
from collections.abc import Sequence

MOST_SENTENCES = 50  # a longer text is taken as one

# An end of a sentence with more text after it; languages without spaces need none there.
_END = re.compile(r"[.!?…؟۔।॥։።]['\"”’»)\]]*\s+\S|[。！？｡][\s'\"”’»」』）]*[^\s'\"”’»」』）]")
UNSPACED = frozenset({"zh", "yue", "ja", "th", "lo", "km", "my"})


def sentences(text: str, language: str) -> list[str]:
    """The sentences of a cleaned text; the text itself where it is one, or more than MOST_SENTENCES."""
    if not may_be_several(text):  # nearly always
        return [text]
    # Imported here: ICU's data is 40 MB on disk, and most texts are one sentence.
    from icu4py.breakers import SentenceBreaker

    parts: list[str] = []
    for segment in map(str, SentenceBreaker(text, f"{language}@ss=standard")):
        if parts and not any(character.isalnum() for character in segment):
            parts[-1] += segment  # a mark by itself is no sentence
        else:
            parts.append(segment)
    return [part.strip() for part in parts] if 1 < len(parts) <= MOST_SENTENCES else [text]


def may_be_several(text: str) -> bool:
    """Whether there is more text after what may be the end of a sentence."""
    return _END.search(text) is not None


def joined(translations: Sequence[str], language: str) -> str:
    """Sentences as one text."""
    return ("" if language.split("-")[0] in UNSPACED else " ").join(translations)
