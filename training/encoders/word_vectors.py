"""Initial word vectors of each language: from a fastText file where there is one, else learned from its
sentences."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from index.errors import DataError
from training.data.folder import find_folder
from training.data.training_data import TrainingData

Vectors = NDArray[np.float32]
Rows = Sequence[NDArray[np.int32]]
CONTEXT_WORDS = 5  # words to either side that count as context, as in fastText
OVERSAMPLED, POWERS = 10, 3  # of the random projection
SMOOTHING = 0.75  # the power of a context's frequency, as in word2vec


def initial_word_vectors(folder: str, data: TrainingData, width: int) -> list[Vectors]:
    """(vocabulary, width) of each language, in their order; zeros for words that have none.

    From LANG.vec in `folder`, looked for below the data folder, then as it stands; of a language without one,
    and where `folder` is "", from its sentences' token ids. Lengths are 1 on average in each language, so
    that no language's words outweigh another's.
    """
    place = find_folder(folder, data.folder) if folder else None
    if folder and place is None:
        raise DataError(f"text.vectors {folder}: no folder of that name, in the data or elsewhere")
    tokenizer = data.tokenizer
    words = [tokenizer.id_to_token(number) or "" for number in range(tokenizer.get_vocab_size())]
    sentences = {language: data.sentences.get(language, []) for language in data.languages}
    vectors = word_vectors(place, words, sentences, width, data.seed)
    return [_of_mean_length_one(rows) for rows in vectors.values()]


def _of_mean_length_one(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1)
    some = lengths > 0
    return vectors / lengths[some].mean() if some.any() else vectors


def word_vectors(
    folder: Path | None, words: Sequence[str], sentences: Mapping[str, Rows], width: int, seed: int
) -> dict[str, Vectors]:
    """Language -> (vocabulary, width), row i the vector of `words[i]` there; zeros for words not seen.

    `sentences` are token ids, what languages there are and what is learned from; `folder` may have LANG.vec,
    which is cut to its principal components where it is wider.
    Raises DataError for a file that is not fastText's, or narrower than `width`.
    """
    vocabulary, found = {word: row for row, word in enumerate(words)}, {}
    for number, (language, rows) in enumerate(sentences.items()):
        file = folder / f"{language}.vec" if folder else None
        if file and file.is_file():
            found[language] = principal(read_vec(file, vocabulary, width), width)
        else:
            found[language] = learn_vectors(rows, len(words), width, seed + number)
    return found


def read_vec(file: Path, vocabulary: Mapping[str, int], width: int) -> Vectors:
    """(vocabulary, d) from fastText's text format: a line `count d`, then a line a word; zeros for others."""
    try:
        with file.open(encoding="utf-8", newline="\n") as lines:
            dimension = int(lines.readline().split()[1])
            if dimension < width:
                raise DataError(f"{file} has {dimension} dimensions: take vectors of {width} or more")
            found = np.zeros((len(vocabulary), dimension), np.float32)
            for line in lines:
                word, *values = line.rstrip().split(" ")
                if word in vocabulary:
                    found[vocabulary[word]] = np.asarray(values, np.float32)
    except (OSError, ValueError, IndexError) as error:
        raise DataError(f"{file} is not fastText's .vec format: {error}") from None
    if not np.isfinite(found).all():
        raise DataError(f"{file} has numbers that are not finite")
    return found


def learn_vectors(rows: Rows, vocabulary: int, width: int, seed: int) -> Vectors:
    """(vocabulary, width): the first singular vectors of the positive pointwise mutual information between
    words and their context, times the square roots of the singular values.

    What skip-gram with negative sampling factorises (Levy & Goldberg 2014), and in seconds.
    """
    counts = cooccurrences(rows, vocabulary)
    seen = np.flatnonzero(counts.sum(axis=1))
    found = np.zeros((vocabulary, width), np.float32)
    if len(seen):
        left, values = leading(positive_information(counts[seen][:, seen]), min(width, len(seen)), seed)
        found[np.ix_(seen, np.arange(len(values)))] = left * np.sqrt(values)
    return found


def leading(matrix: csr_array, rank: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The first left singular vectors (n, rank) and values of a square matrix, by random projection with
    power iterations (Halko et al. 2011, algorithm 4.4): at 300 of thousands much faster than exactly."""
    width = min(matrix.shape[0], rank + OVERSAMPLED)
    basis = np.random.default_rng(seed).standard_normal((matrix.shape[0], width))
    for _ in range(POWERS):
        basis = np.linalg.qr(matrix @ basis)[0]
        basis = np.linalg.qr(matrix.T @ basis)[0]
    basis = np.linalg.qr(matrix @ basis)[0]
    inner, values, _ = np.linalg.svd((matrix.T @ basis).T, full_matrices=False)
    return (basis @ inner)[:, :rank], values[:rank]


def cooccurrences(rows: Rows, vocabulary: int) -> csr_array:
    """(vocabulary, vocabulary), how often two words stand within CONTEXT_WORDS of each other; symmetric."""
    total = csr_array((vocabulary, vocabulary), dtype=np.float64)
    lengths = np.asarray([len(row) for row in rows])
    flat = np.concatenate([*rows, np.empty(0, np.int32)])
    sentence = np.repeat(np.arange(len(rows)), lengths)
    for distance in range(1, CONTEXT_WORDS + 1):
        near = sentence[:-distance] == sentence[distance:]
        one, other = flat[:-distance][near], flat[distance:][near]
        ones = np.ones(len(one))
        total = total + coo_array((ones, (one, other)), total.shape).tocsr()
    return csr_array(total + total.T)


def positive_information(counts: csr_array) -> csr_array:
    """max(0, log p(w, c) / (p(w) p(c))), the contexts' p flattened by SMOOTHING."""
    some = coo_array(counts)
    words = counts.sum(axis=1)
    contexts = words**SMOOTHING
    expected = words[some.row] * contexts[some.col] / max(contexts.sum(), 1e-12)
    values = np.maximum(0, np.log(some.data / np.maximum(expected, 1e-12)))
    found = csr_array((values, (some.row, some.col)), some.shape)
    found.eliminate_zeros()
    return found


def principal(vectors: Vectors, width: int) -> Vectors:
    """(n, d) -> (n, width): their first principal components, d at least `width`; rows of zeros, which stand
    for nothing, stay so and are not counted."""
    some = np.abs(vectors).sum(axis=1) > 0
    found = np.zeros((len(vectors), width), np.float32)
    if some.any():
        centred = vectors[some] - vectors[some].mean(axis=0)
        _, axes = np.linalg.eigh(centred.T.astype(np.float64) @ centred)
        found[some] = centred @ axes[:, ::-1][:, :width]
    return found
