"""Embeds sentences by their whole words, beside the encoder, which knows them by their subwords.

Where a language has few subwords, an encoder that adds subwords cannot tell its words apart. A word as a
whole has evidence of its own: the pictures whose captions contain it, and the words that it stands beside.
Vectors of the latter are rotated onto those of one language, the pivot, by self-learning (Artetxe et al.
2018), which begins with the words that pictures and the encoder find similar.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from index.encoder.vectors import unit
from index.vectors.neighbourhoods import csls_scores, neighbourhood_means
from training.data.training_data import TrainingData
from training.encoders.word_vectors import learn_vectors
from training.loop.mining.lexicon import Lexicon, lexicon, spellings, stems, word_starts

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]
Tokens = NDArray[np.int32]
Embed = Callable[[list[Tokens]], Vectors]  # token ids of words -> unit vectors

PICTURE_WIDTH, CONTEXT_WIDTH = 192, 160  # multiples of 4, as product quantisation needs
PICTURE_WEIGHT, CONTEXT_WEIGHT = 0.7, 0.8  # beside the encoder's vector; chosen on dev, decision 99
SEEN = 0.3  # captions, each divided by its number of words: with fewer, pictures don't say what a word means
ALIGNED_WORDS, ALIGNMENT_ROUNDS = 4000, 5
FIRST_SHARE, LATER_SHARE = 0.25, 0.5  # of the pairs of words, those with the highest scores


class WordEvidence:
    """What pictures and contexts say of the words of each language that has sentences without pictures."""

    def __init__(self, data: TrainingData, pivot: str) -> None:
        starts, ends = word_starts(data.tokenizer)
        codes = [pivot, *(code for code in data.texts if code != pivot)]
        self._pivot = pivot
        self.lexicons = {code: lexicon(data.sentences[code], starts, ends) for code in codes}
        spelled = spellings(data.tokenizer)
        self.stems = {code: stems(data.sentences[code], starts, ends, spelled) for code in codes}
        space = _principal(data.picture_space())
        self._pictures, self._masses = {}, {}
        for code, words in self.lexicons.items():
            self._pictures[code], self._masses[code] = _picture_vectors(data, code, words, space)
        self._contexts = {code: _context_vectors(words, data.seed) for code, words in self.lexicons.items()}

    @property
    def paired(self) -> dict[str, list[Tokens]]:
        """Language -> token ids of what may be paired: its words, then the words that have a stem."""
        return {code: [*words.tokens, *self.stems[code].tokens] for code, words in self.lexicons.items()}

    def tables(self, embed: Embed) -> dict[str, tuple[Vectors, Vectors]]:
        """Language -> what each token of a word adds to a sentence: by pictures, and by contexts.

        Contexts' vectors are rotated onto those of the pivot. `embed`: the encoder. Rows of zeros are last.
        """
        similar = {code: _centred(embed(words.tokens)) for code, words in self.lexicons.items()}
        tables = {}
        for code, words in self.lexicons.items():
            contexts = self._contexts[code]
            if code != self._pivot:
                contexts = contexts @ self._rotation(code, similar)
            shares = (words.rarity / [len(tokens) for tokens in words.tokens])[:, None]
            parts = (self._pictures[code] * shares, contexts * shares)
            pictures, contexts = (np.pad(part, ((0, 1), (0, 0))).astype(np.float32) for part in parts)
            tables[code] = pictures, contexts
        return tables

    def _rotation(self, code: str, similar: dict[str, Vectors]) -> Vectors:
        """The rotation (d, d) of a language's context vectors onto the pivot's."""
        first, second = (self._contexts[c][:ALIGNED_WORDS] for c in (code, self._pivot))
        known = [_csls(*(similar[c][:ALIGNED_WORDS] for c in (code, self._pivot)))]
        seen = [np.flatnonzero(self._masses[c][:ALIGNED_WORDS] >= SEEN) for c in (code, self._pivot)]
        shown = np.zeros_like(known[0])
        if all(map(len, seen)):
            pictures = [
                unit(self._pictures[c][rows]) for c, rows in zip((code, self._pivot), seen, strict=True)
            ]
            shown[np.ix_(*seen)] = _csls(*pictures)
        prior: Vectors = np.float32(0.5) * (np.maximum(known[0], 0) + np.maximum(shown, 0))
        scores, share = prior, FIRST_SHARE
        for _ in range(ALIGNMENT_ROUNDS):
            pairs = _best_pairs(scores, share)
            left, _, right = np.linalg.svd(first[pairs[:, 0]].T @ second[pairs[:, 1]])
            rotation: Vectors = (left @ right).astype(np.float32)
            scores, share = _csls(first @ rotation, second) + prior, LATER_SHARE
        return rotation


def sentence_vectors(
    encoded: Vectors, rows: Sequence[Numbers], tables: tuple[Vectors, Vectors], real: int
) -> Vectors:
    """Join the encoder's vectors (n, d) of sentences with those by words: (n, d + d' + d'').

    rows: the word of each token. tables: of the language (`WordEvidence.tables`). The first `real` are
    sentences, by whose mean each part is centred; the others are decoys.
    """
    flat = np.concatenate(rows)
    ends = np.cumsum([0, *map(len, rows)])
    bags = csr_array((np.ones(len(flat), np.float32), flat, ends), shape=(len(rows), len(tables[0])))
    parts = [(1.0, encoded), (PICTURE_WEIGHT, bags @ tables[0]), (CONTEXT_WEIGHT, bags @ tables[1])]
    return np.concatenate([weight * _centred(part, real) for weight, part in parts], axis=1, dtype=np.float32)


def _centred(vectors: Vectors, real: int | None = None) -> Vectors:
    """Unit vectors, centred by the mean of the first `real`, or of all."""
    vectors = unit(vectors)
    return unit(vectors - vectors[:real].mean(axis=0))


def _principal(space: Vectors) -> Vectors:
    """The first principal components of centred unit rows."""
    centred = _centred(space)
    _, axes = np.linalg.eigh(centred.T @ centred)
    components: Vectors = centred @ axes[:, ::-1][:, :PICTURE_WIDTH]
    return components


def _picture_vectors(
    data: TrainingData, code: str, words: Lexicon, space: Vectors
) -> tuple[Vectors, NDArray[np.float64]]:
    """(words, d) unit vectors of the pictures that words are said of, and in how many captions.

    A caption counts for each of its words by a share: the more it says, the less of the picture is the word.
    """
    captions = [caption for caption in data.captions.captions if caption.language == code]
    start = len(words.rows) - len(captions)
    rows = [np.unique(row[row < len(words)]) for row in words.rows[start:]]
    pictures = np.repeat([caption.picture for caption in captions], [len(row) for row in rows]).astype(int)
    shares = np.concatenate([np.full(len(row), 1 / max(1, len(row))) for row in rows] or [np.empty(0)])
    flat = np.concatenate([*rows, np.empty(0, np.int64)]).astype(int)
    sums = csr_array((shares, (flat, pictures)), shape=(len(words), len(space)))
    return unit((sums @ space).astype(np.float32)), np.asarray(sums.sum(axis=1)).ravel()


def _context_vectors(words: Lexicon, seed: int) -> Vectors:
    """(words, CONTEXT_WIDTH) centred unit vectors."""
    return _centred(learn_vectors(words.sequences(), len(words) + 1, CONTEXT_WIDTH, seed)[:-1])


def _csls(first: Vectors, second: Vectors) -> Vectors:
    cosines = first @ second.T
    means = neighbourhood_means(cosines)[:, None], neighbourhood_means(cosines.T)
    scores: Vectors = csls_scores(cosines, *means)
    return scores


def _best_pairs(scores: Vectors, share: float) -> Numbers:
    """Each row with its best column, and each column with its best row: the `share` with the best scores."""
    rows, columns = map(np.arange, scores.shape)
    pairs = np.r_[np.c_[rows, scores.argmax(axis=1)], np.c_[scores.argmax(axis=0), columns]]
    values = scores[pairs[:, 0], pairs[:, 1]]
    best: Numbers = pairs[np.argsort(-values, kind="stable")[: max(1, int(share * len(pairs)))]]
    return best
