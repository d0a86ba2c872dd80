"""Phrases of two words that are more than their words: "ice cream", "fire hydrant".

Mikolov et al. 2013, equation 6: (count(a b) - DISCOUNT) / (count(a) count(b)), here times the number of
words, which makes it the ratio of how often the two are together to how often chance would have them so.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from index.languages import language

DISCOUNT = 5  # so that a pair seen a few times is no phrase
LEAST = 10  # times seen
RATIO = 50.0  # more often than by chance
BATCH = 1 << 15  # sentences counted at a time
END = -1  # of a sentence, among the numbers of words
HALF = 32  # bits of each word in the key of a pair
MASK = (1 << HALF) - 1
# Scripts without spaces between words: ICU's dictionaries have their compounds already.
UNSPACED = frozenset({"Hans", "Hant", "Jpan", "Thai", "Laoo", "Khmr", "Mymr"})

Numbered = tuple[NDArray[np.int64], NDArray[np.int64]]  # keys of pairs, sorted, and how often they were seen


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
    texts: Iterable[str], divide: Callable[[str], Sequence[str]]
) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """Neighbours seen LEAST times and words of sentences, counted; a word twice in a row is no pair.

    `divide` gives the words of what stands between spaces, once for each: no word spans a space.
    """
    words: dict[str, int] = {}  # word -> its number
    known: dict[str, list[int]] = {}  # piece -> its words
    rest = iter(texts)
    counts = np.zeros(0, np.int64)
    pairs = np.zeros(0, np.int64), np.zeros(0, np.int64)
    while batch := list(islice(rest, BATCH)):
        numbers = array("q")
        for text in batch:
            for piece in text.split():
                if (found := known.get(piece)) is None:
                    found = known[piece] = [words.setdefault(word, len(words)) for word in divide(piece)]
                numbers.extend(found)
            numbers.append(END)
        every = np.frombuffer(numbers, np.int64)
        seen = np.bincount(every[every != END], minlength=len(words))
        seen[: len(counts)] += counts
        counts, pairs = seen, _added(pairs, every)
    names = list(words)
    often = [column[pairs[1] >= LEAST].tolist() for column in pairs]
    named = {(names[key >> HALF], names[key & MASK]): count for key, count in zip(*often, strict=True)}
    return Counter(named), Counter(dict(zip(names, counts.tolist(), strict=True)))


def _added(pairs: Numbered, words: NDArray[np.int64]) -> Numbered:
    """Pairs and how often they were seen, with those among numbered words."""
    first, second = words[:-1], words[1:]
    there = (first != second) & (first != END) & (second != END)
    keys, counts = np.unique((first[there] << HALF) | second[there], return_counts=True)
    every, where = np.unique(np.concatenate([pairs[0], keys]), return_inverse=True)
    total = np.zeros(len(every), np.int64)
    np.add.at(total, where, np.concatenate([pairs[1], counts]))
    return every, total
