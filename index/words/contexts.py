"""Word vectors from contexts: the mean of the sentences that contain a word, mixed with that of its tokens.

The encoder was trained to compare sentences, and the sentences that contain a word show what it means.
Measured in docs/results.md.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from index.encoder.vectors import Vectors, unit
from index.text.pre_tokens import Integers, Numbering, StringArray, Tokens
from index.words.vocabulary import numbered_words

CONTEXTS_PER_WORD = 100  # sentences per word: more change nothing
OWN_WEIGHT = 0.3  # of a word's own vector beside one sentence: more finds look-alikes (docs/results.md)
WORDS_AT_ONCE = 1 << 12  # mixed at a time, to bound memory


def occurrences(
    batches: Iterable[Sequence[str] | StringArray], vocabulary: Sequence[str], language: str
) -> Iterator[tuple[int, Integers, Integers]]:
    """Yield per batch: its number of texts, vocabulary rows (n,) ascending, and the text (n,) of each."""
    entries = _Entries(vocabulary)
    for words in numbered_words(batches, entries.numbering, language):
        rows, texts = entries.find(words)
        # Not `unique`, which looks them up before it sorts them.
        keys = np.sort(rows * len(words) + texts)
        yield len(words), *np.divmod(keys[_begins(keys)], len(words))


def _begins(ascending: Integers) -> Integers:
    """The positions at which a new number begins."""
    return np.flatnonzero(np.diff(ascending, prepend=-1))


class _Entries:
    """A vocabulary, found in numbered texts."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.numbering = Numbering()
        rows = {self.numbering[word]: row for row, word in enumerate(vocabulary)}
        # The last row is for all words that are not in the vocabulary.
        self._rows = np.array([rows.get(number, -1) for number in range(len(rows) + 1)], np.int64)

    def find(self, words: Tokens) -> tuple[Integers, Integers]:
        """The vocabulary rows (n,) that occur, and the text (n,) of each occurrence."""
        rows = self._rows[np.minimum(words.ids, len(self._rows) - 1)]
        return rows[rows >= 0], words.texts[rows >= 0]


class Contexts:
    """Sums of text vectors: of the first CONTEXTS_PER_WORD texts of each of `count` words, and of all."""

    def __init__(self, count: int, dimension: int) -> None:
        self.counts = np.zeros(count, np.int64)
        self._sums = np.zeros((count, dimension), np.float32)
        self._total, self._texts = np.zeros(dimension, np.float64), 0

    def add(self, rows: Integers, texts: Integers, vectors: Vectors) -> None:
        """Add texts by their vectors (n, d); the word `rows[i]`, ascending, is in text `texts[i]`."""
        self._total += vectors.sum(axis=0, dtype=np.float64)
        self._texts += len(vectors)
        starts = _begins(rows)
        lengths = np.diff(starts, append=len(rows))
        place = np.arange(len(rows)) - np.repeat(starts, lengths)
        left = np.maximum(CONTEXTS_PER_WORD - self.counts[rows], 0)
        # The nth text of every word at once: `reduceat` over the rows is slower.
        for number in range(int(np.minimum(lengths, left[starts]).max(initial=0))):
            nth = np.flatnonzero((place == number) & (number < left))
            self._sums[rows[nth]] += vectors[texts[nth]]
        self.counts[rows[starts]] += np.minimum(lengths, left[starts])

    def mixed(self, vectors: Vectors) -> Vectors:
        """Mix the words' own unit `vectors` (count, d) with their contexts -> (count, d) unit rows.

        For a word that n texts contain, the weighted mean of two unit vectors: its own, OWN_WEIGHT times, and
        n times the direction from the mean of all texts to the mean of those n. A word in no text keeps its
        own vector.
        """
        mean = self._total / max(self._texts, 1)
        mixed = np.empty_like(vectors)
        # In blocks: float64 copies of all would take several times the memory of the vectors.
        for start in range(0, len(vectors), WORDS_AT_ONCE):
            rows = slice(start, start + WORDS_AT_ONCE)
            counts = self.counts[rows, None]
            contexts = self._sums[rows] / np.maximum(counts, 1) - mean
            weights = counts / (counts + OWN_WEIGHT)
            mixed[rows] = unit((1 - weights) * vectors[rows] + weights * unit(contexts))
        return mixed
