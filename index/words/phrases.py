"""Two-word phrases whose words occur together more often than by chance: "ice cream", "fire hydrant".

Mikolov et al. 2013, equation 6: (count(a b) - PHRASE_DISCOUNT) / (count(a) count(b)), here times the number
of words, which makes it the ratio of the observed count to the count expected by chance.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from index.text.pre_tokens import Integers, Numbering, StringArray, Tokens
from index.words.vocabulary import numbered_words

PHRASE_DISCOUNT = 5  # so that a pair seen a few times is not a phrase
LEAST_COUNT = 10
LEAST_RATIO = 50.0  # observed count to that expected by chance
PAIRS_SORTED = 1 << 22  # at a time
WORD_BITS = 32  # of each of the two words in the key of a pair
WORD_MASK = (1 << WORD_BITS) - 1

PairCounts = tuple[Integers, Integers]  # keys of pairs, sorted, and how often they were seen


def find_phrases(pairs: Mapping[tuple[str, str], int], counts: Mapping[str, int]) -> dict[str, int]:
    """Counts of adjacent word pairs and of single words -> phrase "a b" and its count."""
    total = sum(counts.values())
    phrases = {}
    for (first, second), count in pairs.items():
        if (
            count >= LEAST_COUNT
            and (count - PHRASE_DISCOUNT) * total >= LEAST_RATIO * counts[first] * counts[second]
        ):
            phrases[f"{first} {second}"] = count
    return phrases


def count_pairs(
    batches: Iterable[Sequence[str] | StringArray], language: str
) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """Count words, and adjacent pairs of different words seen at least LEAST_COUNT times."""
    numbering = Numbering()
    counts = np.zeros(0, np.int64)
    pairs = np.zeros(0, np.int64), np.zeros(0, np.int64)
    uncounted: list[Integers] = []  # keys of pairs
    for words in numbered_words(batches, numbering, language):
        seen = np.bincount(words.ids, minlength=len(numbering))
        seen[: len(counts)] += counts
        counts = seen
        uncounted.append(neighbours(words)[0])
        if sum(map(len, uncounted)) > PAIRS_SORTED:
            pairs, uncounted = _added(pairs, uncounted), []
    pairs = _added(pairs, uncounted)
    names = list(numbering)
    often = [column[pairs[1] >= LEAST_COUNT].tolist() for column in pairs]
    named = {
        (names[key >> WORD_BITS], names[key & WORD_MASK]): count for key, count in zip(*often, strict=True)
    }
    return Counter(named), Counter(dict(zip(names, counts.tolist(), strict=True)))


def neighbours(words: Tokens) -> tuple[Integers, Integers]:
    """The keys (n,) of adjacent word pairs, and the text (n,) of each."""
    first, second, texts = words.ids[:-1], words.ids[1:], words.texts
    adjacent = (first != second) & (texts[:-1] == texts[1:])
    return key_of(first[adjacent], second[adjacent]), texts[:-1][adjacent]


def key_of(first: Integers, second: Integers) -> Integers:
    """The key of a pair: one integer from the numbers of its two words."""
    keys: Integers = (first << WORD_BITS) | second
    return keys


def _added(pairs: PairCounts, keys: list[Integers]) -> PairCounts:
    """Pair counts with the occurrences in `keys` added."""
    # Not `return_inverse`, which sorts numbers five times as slowly.
    more, counts = np.unique(np.concatenate([np.zeros(0, np.int64), *keys]), return_counts=True)
    every = np.union1d(pairs[0], more)
    total = np.zeros(len(every), np.int64)
    total[np.searchsorted(every, pairs[0])] += pairs[1]
    total[np.searchsorted(every, more)] += counts
    return every, total
