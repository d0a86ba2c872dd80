"""Initial word vectors of each language, learned from its sentences."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.linalg import svds

from index.arrays import Vectors
from training.data.tokens import TokenIds
from training.data.training_data import TrainingData

CONTEXT_WORDS = 5  # words to either side that count as context, as in fastText
CONTEXT_POWER = 0.75  # the power of a context's frequency, as in word2vec


def initial_word_vectors(data: TrainingData, width: int) -> list[Vectors]:
    """Word vectors of each language, in order: (vocabulary, width), zeros for words that have none.

    In place of fastText's, from Wikipedia, which the papers take. The mean length is 1 in each language, so
    that no language outweighs another.
    """
    size = data.tokenizer.get_vocab_size()
    learned = (
        learn_vectors(data.sentences.get(language, []), size, width, data.seed + number)
        for number, language in enumerate(data.languages)
    )
    return [_of_mean_length_one(rows) for rows in learned]


def _of_mean_length_one(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1)
    nonzero = lengths > 0
    return vectors / lengths[nonzero].mean() if nonzero.any() else vectors


def learn_vectors(rows: Sequence[TokenIds], vocabulary: int, width: int, seed: int) -> Vectors:
    """Learn word vectors (vocabulary, width) by factorising positive pointwise mutual information.

    They are the first singular vectors times the square roots of the singular values, an explicit form of
    what skip-gram with negative sampling learns (Levy & Goldberg 2014).
    """
    counts = cooccurrences(rows, vocabulary)
    seen_words = np.flatnonzero(counts.sum(axis=1))
    vectors = np.zeros((vocabulary, width), np.float32)
    rank = min(width, len(seen_words) - 1)  # all that svds gives
    if rank > 0:
        information = positive_information(counts[seen_words][:, seen_words])
        left_vectors, values, _ = svds(information, rank, rng=np.random.default_rng(seed))
        vectors[np.ix_(seen_words, np.arange(rank))] = (left_vectors * np.sqrt(values))[:, ::-1]
    return vectors


def cooccurrences(rows: Sequence[TokenIds], vocabulary: int) -> csr_array:
    """Count words within CONTEXT_WORDS of each other: symmetric (vocabulary, vocabulary)."""
    total = csr_array((vocabulary, vocabulary), dtype=np.float64)
    lengths = np.asarray([len(row) for row in rows])
    flat = np.concatenate([*rows, np.empty(0, np.int32)])
    sentence = np.repeat(np.arange(len(rows)), lengths)
    for distance in range(1, CONTEXT_WORDS + 1):
        same_sentence = sentence[:-distance] == sentence[distance:]
        words, contexts = flat[:-distance][same_sentence], flat[distance:][same_sentence]
        ones = np.ones(len(words))
        total = total + coo_array((ones, (words, contexts)), total.shape).tocsr()
    return csr_array(total + total.T)


def positive_information(counts: csr_array) -> csr_array:
    """Positive pointwise mutual information, with the contexts' p to the power of CONTEXT_POWER."""
    entries = coo_array(counts)
    words = counts.sum(axis=1)
    contexts = words**CONTEXT_POWER
    expected = words[entries.row] * contexts[entries.col] / max(contexts.sum(), 1e-12)
    values = np.maximum(0, np.log(entries.data / np.maximum(expected, 1e-12)))
    information = csr_array((values, (entries.row, entries.col)), entries.shape)
    information.eliminate_zeros()
    return information


def principal(vectors: Vectors, width: int) -> Vectors:
    """Reduce (n, d) to the first `width` principal components; rows of zeros are ignored and stay zeros."""
    nonzero = np.abs(vectors).sum(axis=1) > 0
    components = np.zeros((len(vectors), width), np.float32)
    if nonzero.any():
        centred = vectors[nonzero] - vectors[nonzero].mean(axis=0)
        _, axes = np.linalg.eigh(centred.T.astype(np.float64) @ centred)
        components[nonzero] = centred @ axes[:, ::-1][:, :width]
    return components
