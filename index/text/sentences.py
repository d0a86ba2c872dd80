"""Sentence segmentation by ICU's rules for the language (UAX #29), without breaks after abbreviations."""

import re

MOST_SENTENCES = 50  # a longer text is taken as one

# The end of a sentence that is followed by more text, after a space in languages that use spaces.
_END = re.compile(r"[.!?…؟۔।॥։።]['\"”’»)\]]*\s+\S|[。！？｡][\s'\"”’»」』）]*[^\s'\"”’»」』）]")

# Titles before a name, of which ICU knows only some, in the language that they belong to.
_TITLE = re.compile(
    r"(?:^|\s)(?:Dr|Dra|Drs|Fr|Hr|Ing|Mgr|Mlle|Mme|Mr|Mrs|Ms|Prof|Sr|Sra|Srta|St|Sta|Ste)\.\s+$"
)


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

    parts: list[str] = []
    for segment in map(str, SentenceBreaker(text, f"{language}@ss=standard")):
        if parts and (_TITLE.search(parts[-1]) or not any(character.isalnum() for character in segment)):
            parts[-1] += segment  # punctuation by itself is not a sentence
        else:
            parts.append(segment)
    return parts


def may_be_several(text: str) -> bool:
    """Whether a text may have several sentences: whether text follows the possible end of a sentence."""
    return _END.search(text) is not None
