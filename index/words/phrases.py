"""Phrases of two words that are more than their words: "ice cream", "fire hydrant".

Mikolov et al. 2013, equation 6: (count(a b) - DISCOUNT) / (count(a) count(b)), here times the number of
words, which makes it the ratio of how often the two are together to how often chance would have them so.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from index.text.languages import language
from index.text.pre_tokens import Pieces, StringArray, Tokens

DISCOUNT = 5  # so that a pair seen a few times is no phrase
LEAST = 10  # times seen
RATIO = 50.0  # more often than by chance
TOGETHER = 1 << 22  # pairs sorted at a time
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
    batches: Iterable[Sequence[str] | StringArray], divide: Callable[[str], Sequence[str]]
) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """Neighbours seen LEAST times and words of batches of sentences, counted; a word twice is no pair.

    `divide` gives the words of what stands between spaces, once for each: no word spans a space.
    """
    words = Pieces()
    counts = np.zeros(0, np.int64)
    pairs = np.zeros(0, np.int64), np.zeros(0, np.int64)
    keys: list[NDArray[np.int64]] = []  # of pairs that are not counted yet
    for every in numbered_words(batches, words, divide):
        seen = np.bincount(every.every, minlength=len(words))
        seen[: len(counts)] += counts
        counts = seen
        keys.append(neighbours(every)[0])
        if sum(map(len, keys)) > TOGETHER:
            pairs, keys = _added(pairs, keys), []
    pairs = _added(pairs, keys)
    names = list(words)
    often = [column[pairs[1] >= LEAST].tolist() for column in pairs]
    named = {(names[key >> HALF], names[key & MASK]): count for key, count in zip(*often, strict=True)}
    return Counter(named), Counter(dict(zip(names, counts.tolist(), strict=True)))


def numbered_words(
    batches: Iterable[Sequence[str] | StringArray], words: Pieces, divide: Callable[[str], Sequence[str]]
) -> Iterator[Tokens]:
    """The words of each batch of sentences, as numbers that `words` gives."""
    pieces = Pieces()
    known = Tokens.of([])  # the words of each piece
    for texts in batches:
        numbered = pieces.numbered(texts)
        new = list(islice(pieces, len(known), None))
        known = known.followed(Tokens.of([list(map(words.__getitem__, divide(piece))) for piece in new]))
        every = known.take(numbered.every)
        lengths = np.bincount(np.repeat(numbered.texts, every.lengths), minlength=len(texts))
        yield Tokens(every.every, lengths)


def neighbours(words: Tokens) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The keys of words that stand directly before another one, and which text each is of."""
    first, second, texts = words.every[:-1], words.every[1:], words.texts
    there = (first != second) & (texts[:-1] == texts[1:])
    keys: NDArray[np.int64] = key_of(first[there], second[there])
    return keys, texts[:-1][there]


def key_of(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """One number for two numbers of words."""
    keys: NDArray[np.int64] = (first << HALF) | second
    return keys


def _added(pairs: Numbered, keys: list[NDArray[np.int64]]) -> Numbered:
    """Pairs and how often they were seen, with those of some more keys."""
    # Not `return_inverse`, which sorts numbers five times as slowly.
    more, counts = np.unique(np.concatenate([np.zeros(0, np.int64), *keys]), return_counts=True)
    every = np.union1d(pairs[0], more)
    total = np.zeros(len(every), np.int64)
    total[np.searchsorted(every, pairs[0])] += pairs[1]
    total[np.searchsorted(every, more)] += counts
    return every, total
