"""Words by their letters: hashed character n-grams, fitted by ridge regression to an encoder's vectors.

benchmarks.training.unseen measures them. Subwords by n-grams are those of fastText (Bojanowski et al. 2017);
Pinter et al. (2017) fit a network that reads letters to vectors that are there already.
"""

from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from scipy.sparse import csr_array

from evaluation.suites.words import read_dictionary
from index.arrays import Vectors
from index.encoder.bundle import open_bundle
from index.encoder.text_encoder import TextEncoder
from index.text.contrasts.meanings import Meanings
from index.words.vocabulary import training_words
from training.encoders.stored import open_start

DICTIONARIES = Path(__file__).parents[2] / "corpora" / "dictionary"
LENGTHS = (3, 4, 5)
BUCKETS = 1 << 18
PENALTY = 1.0  # of the ridge: rows of n-grams have norm 1


class Subwords:
    """An encoder's words, and the sums of the embeddings of texts' subwords."""

    def __init__(self, bundle: Path, meanings: bool) -> None:
        self._encoder, self._meanings = TextEncoder(open_bundle(bundle)), meanings
        self._embeddings = open_start(bundle).embeddings
        self.english = list(training_words(self._encoder.bundle, "en"))

    def __call__(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._embeddings[ids].sum(axis=0) for ids in self._encoder.tokens(texts)])

    def meanings(self, code: str) -> Meanings:
        """The words of a language, frequent ones first, and what they mean."""
        listed = self._encoder.meanings(code)
        assert listed is not None, f"the bundle has no words of {code}"
        return listed

    def unlisted(self, code: str) -> dict[str, set[str]]:
        """The words of corpora/dictionary that the list of a language lacks -> what they mean."""
        file, right = DICTIONARIES / f"en-{code}.tsv", dict[str, set[str]]()
        for english, word in read_dictionary(f"en:{code}={file}").entries if file.is_file() else ():
            if word not in self.meanings(code).counts:
                right.setdefault(word, set()).add(english)
        return right

    def fitted(self, known: Sequence[str], code: str) -> "Letters":
        """n-grams of words, fitted to their vectors."""
        vectors = self(known)
        if self._meanings:
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors = lengths * self._encoder.word_vectors(known, code)
        return Letters(known, vectors)


class Letters:
    """n-grams of words, fitted to vectors."""

    def __init__(self, known: Sequence[str], vectors: Vectors) -> None:
        self._rows = n_grams(known)
        gram = (self._rows @ self._rows.T).toarray() + PENALTY * np.eye(len(known), dtype=np.float32)
        self._weights = self._rows.T @ np.linalg.solve(gram, vectors)

    def __call__(self, asked: Sequence[str]) -> Vectors:
        return np.asarray(n_grams(asked) @ self._weights, np.float32)


def n_grams(asked: Sequence[str]) -> csr_array:
    """(words, BUCKETS) which hashed n-grams words have, unit rows; a word ends with a mark at either side."""
    rows = []
    for word in asked:
        marked = f"<{word}>"
        grams = {marked[i : i + n] for n in LENGTHS for i in range(len(marked) - n + 1)} | {marked}
        rows.append(sorted({crc32(gram.encode()) % BUCKETS for gram in grams}))
    ends = np.cumsum([0, *map(len, rows)])
    values = np.repeat([len(row) ** -0.5 for row in rows], list(map(len, rows))).astype(np.float32)
    return csr_array((values, np.concatenate(rows), ends), shape=(len(rows), BUCKETS))
