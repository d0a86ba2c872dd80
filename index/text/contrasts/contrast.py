"""Contrast: a way in which two sentences say different things."""

from dataclasses import dataclass, field

# Beside the axes of the files: the same words in another order or other forms, words exchanged or added.
ORDER, FORM, EXCHANGED, ADDED = "order", "form", "exchanged", "added"
UNREAD = "unread"  # other words of a language without a file: what they say is not known


@dataclass(frozen=True)
class Contrast:
    """An `axis` on which two sentences differ, and the words of each that say so; empty where none does."""

    axis: str
    question: tuple[str, ...] = field(default=())
    answer: tuple[str, ...] = field(default=())
