"""Phrases of two words that are more than their words: "ice cream", "fire hydrant".

Mikolov et al. 2013, equation 6: (count(a b) - DISCOUNT) / (count(a) count(b)), here times the number of
words, which makes it the ratio of how often the two are together to how often chance would have them so.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from index.languages import language

DISCOUNT = 5  # so that a pair seen a few times is no phrase
LEAST = 10  # times seen
RATIO = 50.0  # more often than by chance
# Scripts without spaces between words: ICU's dictionaries have their compounds already.
UNSPACED = frozenset({"Hans", "Hant", "Jpan", "Thai", "Laoo", "Khmr", "Mymr"})


def spaced(code: str) -> bool:
    """Whether a language writes spaces between its words."""
    return language(code).script not in UNSPACED


def find_phrases(pairs: Mapping[tuple[str, str], int], counts: Mapping[str, int]) -> dict[str, int]:
    """How often words stood directly before each other, and each by itself -> "a b" and its count."""
    total = sum(counts.values())
    found = {}
    for (first, second), count in pairs.items():
        if count >= LEAST and (count - DISCOUNT) * total >= RATIO * counts[first] * counts[second]:
            found[f"{first} {second}"] = count
    return found


def count_pairs(
    sentences: Iterable[Sequence[str]],
) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """Neighbours and words of divided sentences, counted; a word twice in a row is no pair."""
    pairs: Counter[tuple[str, str]] = Counter()
    counts: Counter[str] = Counter()
    for words in sentences:
        counts.update(words)
        pairs.update((first, second) for first, second in pairwise(words) if first != second)
    return pairs, counts
