"""Words by their contexts: the mean of the sentences that have a word, beside that of its tokens.

Sentences are what the encoder has learned to compare, and those that have a word are about what it means.
docs/decisions/0067-contexts.md has what it gives.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from index.build.job import Job
from index.build.reading import texts_of, vectors_of
from index.encoder.text_encoder import Vectors
from index.text.pre_tokens import Integers, Pieces, StringArray, Tokens
from index.unit import unit
from index.words.phrases import key_of, neighbours, numbered_words
from index.words.vocabulary import divided

SENTENCES = 100_000  # read of each language
CONTEXTS = 100  # of each word: more change nothing
BATCH = 1 << 12  # sentences at a time


def vectors_in_context(job: Job, code: str, vocabulary: Sequence[str], sentences: int) -> Vectors:
    """(n, d) unit vectors of the words and phrases of a language whose `sentences` sentences are encoded.

    For a word that n of them have, the mean of n + 1 unit vectors: its own and, n times, the direction from
    the mean of all sentences to that of those n. A word that none has keeps its own.
    """
    own = job.encoder.word_vectors(vocabulary, code)
    vectors = vectors_of(job, code, min(sentences, SENTENCES))
    contexts, start = Contexts(len(vocabulary), vectors.shape[1]), 0
    for count, rows, of in occurrences(texts_of(job, code, BATCH, end=len(vectors)), vocabulary, code):
        contexts.add(rows, of, np.asarray(vectors[start : start + count]))
        start += count
    return contexts.mixed(own)


def occurrences(
    batches: Iterable[Sequence[str] | StringArray], vocabulary: Sequence[str], language: str
) -> Iterator[tuple[int, Integers, Integers]]:
    """How many texts a batch has; rows of the vocabulary, ascending, and the texts that have them, once."""
    names = _Names(vocabulary)
    for words in numbered_words(batches, names.words, lambda piece: divided(piece, language)):
        rows, of = names.find(words)
        # Not `unique`, which looks them up before it sorts them.
        keys = np.sort(rows * len(words) + of)
        yield len(words), *np.divmod(keys[_begins(keys)], len(words))


def _begins(ascending: Integers) -> Integers:
    """Where another number begins."""
    return np.flatnonzero(np.diff(ascending, prepend=-1))


class _Names:
    """A vocabulary of words, and phrases of two words with a space between, found in numbered texts."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.words = Pieces()
        parts = [[self.words[part] for part in name.split(" ")] for name in vocabulary]
        singles = {found[0]: row for row, found in enumerate(parts) if len(found) == 1}
        # One more: words of no name, however many there will be.
        self._rows = np.array([singles.get(number, -1) for number in range(len(self.words) + 1)], np.int64)
        pairs = np.array([found for found in parts if len(found) == 2], np.int64).reshape(-1, 2)
        keys, order = key_of(*pairs.T), np.flatnonzero([len(found) == 2 for found in parts])
        by_key = np.argsort(keys)
        self._keys, self._phrases = keys[by_key], order[by_key]

    def find(self, words: Tokens) -> tuple[Integers, Integers]:
        """The rows of what is there, and which text each is in."""
        rows = self._rows[np.minimum(words.every, len(self._rows) - 1)]
        of = words.texts
        if len(self._keys):
            keys, where = neighbours(words)
            places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            pairs = np.where(self._keys[places] == keys, self._phrases[places], -1)
            rows, of = np.concatenate([rows, pairs]), np.concatenate([of, where])
        return rows[rows >= 0], of[rows >= 0]


class Contexts:
    """Sums of the vectors of the first CONTEXTS texts that have each of `count` words, and of all texts."""

    def __init__(self, count: int, dimension: int) -> None:
        self.counts = np.zeros(count, np.int64)
        self._sums = np.zeros((count, dimension), np.float32)
        self._total, self._texts = np.zeros(dimension, np.float64), 0

    def add(self, rows: Integers, of: Integers, vectors: Vectors) -> None:
        """The vectors (n, d) of some texts; the word `rows[i]`, ascending, is in text `of[i]`."""
        self._total += vectors.sum(axis=0, dtype=np.float64)
        self._texts += len(vectors)
        starts = _begins(rows)
        lengths = np.diff(starts, append=len(rows))
        place = np.arange(len(rows)) - np.repeat(starts, lengths)
        left = np.maximum(CONTEXTS - self.counts[rows], 0)
        # Once each of the words that have so many: added row by row, which `reduceat` does more slowly.
        for number in range(int(np.minimum(lengths, left[starts]).max(initial=0))):
            nth = np.flatnonzero((place == number) & (number < left))
            self._sums[rows[nth]] += vectors[of[nth]]
        self.counts[rows[starts]] += np.minimum(lengths, left[starts])

    def mixed(self, own: Vectors) -> Vectors:
        """Unit vectors of words in their contexts, given their own."""
        mean = self._total / max(self._texts, 1)
        found = np.empty_like(own)
        # Some at a time: in doubles all would take several times the memory of the vectors.
        for start in range(0, len(own), BATCH):
            rows = slice(start, start + BATCH)
            counts = self.counts[rows, None]
            contexts = self._sums[rows] / np.maximum(counts, 1) - mean
            weights = counts / (counts + 1)
            found[rows] = unit(own[rows] / (counts + 1) + weights * unit(contexts))
        return found
