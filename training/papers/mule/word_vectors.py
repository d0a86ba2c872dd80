"""Initial word vectors of each language: from a fastText file if there is one, else from its sentences."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from index.errors import DataError
from training.data.training_data import TrainingData

Vectors = NDArray[np.float32]
Rows = Sequence[NDArray[np.int32]]
CONTEXT_WORDS = 5  # words to either side that count as context, as in fastText
OVERSAMPLED, POWERS = 10, 3  # of the random projection
CONTEXT_POWER = 0.75  # the power of a context's frequency, as in word2vec


def initial_word_vectors(folder: str, data: TrainingData, width: int) -> list[Vectors]:
    """Word vectors of each language, in order: (vocabulary, width), zeros for words that have none.

    Read from LANG.vec in `folder`; learned from its sentences for a language without the file, or if
    `folder` is "". The mean length is 1 in each language, so that no
    language outweighs another. DataError if the folder is missing or a file is not valid.
    """
    vector_folder = Path(folder) if folder else None
    if vector_folder and not vector_folder.is_dir():
        raise DataError(f"text.vectors {folder}: no folder of that name, in the data or elsewhere")
    tokenizer = data.tokenizer
    words = [tokenizer.id_to_token(number) or "" for number in range(tokenizer.get_vocab_size())]
    sentences = {language: data.sentences.get(language, []) for language in data.languages}
    vectors = word_vectors(vector_folder, words, sentences, width, data.seed)
    return [_of_mean_length_one(rows) for rows in vectors.values()]


def _of_mean_length_one(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1)
    nonzero = lengths > 0
    return vectors / lengths[nonzero].mean() if nonzero.any() else vectors


def word_vectors(
    folder: Path | None, words: Sequence[str], sentences: Mapping[str, Rows], width: int, seed: int
) -> dict[str, Vectors]:
    """Language -> (vocabulary, width), row i the vector of `words[i]`; zeros for absent words.

    sentences: language -> token ids to learn from. folder: may have LANG.vec, which is reduced to `width`
    principal components.
    Raises DataError for a file that is not in fastText's format, or narrower than `width`.
    """
    vocabulary, vectors = {word: row for row, word in enumerate(words)}, {}
    for number, (language, rows) in enumerate(sentences.items()):
        file = folder / f"{language}.vec" if folder else None
        if file and file.is_file():
            vectors[language] = principal(read_vec(file, vocabulary, width), width)
        else:
            vectors[language] = learn_vectors(rows, len(words), width, seed + number)
    return vectors


def read_vec(file: Path, vocabulary: Mapping[str, int], width: int) -> Vectors:
    """Read fastText's text format (`count d`, then a line a word): (vocabulary, d), zeros for others."""
    try:
        with file.open(encoding="utf-8", newline="\n") as lines:
            dimension = int(lines.readline().split()[1])
            if dimension < width:
                raise DataError(f"{file} has {dimension} dimensions: take vectors of {width} or more")
            vectors = np.zeros((len(vocabulary), dimension), np.float32)
            for line in lines:
                word, *values = line.rstrip().split(" ")
                if word in vocabulary:
                    vectors[vocabulary[word]] = np.asarray(values, np.float32)
    except (OSError, ValueError, IndexError) as error:
        raise DataError(f"{file} is not fastText's .vec format: {error}") from None
    if not np.isfinite(vectors).all():
        raise DataError(f"{file} has numbers that are not finite")
    return vectors


def learn_vectors(rows: Rows, vocabulary: int, width: int, seed: int) -> Vectors:
    """Learn word vectors (vocabulary, width) by factorising positive pointwise mutual information.

    They are the first singular vectors times the square roots of the singular values, an explicit form of
    what skip-gram with negative sampling learns (Levy & Goldberg 2014).
    """
    counts = cooccurrences(rows, vocabulary)
    seen_words = np.flatnonzero(counts.sum(axis=1))
    vectors = np.zeros((vocabulary, width), np.float32)
    if len(seen_words):
        left_vectors, values = leading(
            positive_information(counts[seen_words][:, seen_words]), min(width, len(seen_words)), seed
        )
        vectors[np.ix_(seen_words, np.arange(len(values)))] = left_vectors * np.sqrt(values)
    return vectors


def leading(matrix: csr_array, rank: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The first left singular vectors (n, rank) and singular values (rank,) of a square matrix.

    By random projection with power iterations (Halko et al. 2011, algorithm 4.4).
    """
    width = min(matrix.shape[0], rank + OVERSAMPLED)
    basis = np.random.default_rng(seed).standard_normal((matrix.shape[0], width))
    for _ in range(POWERS):
        basis = np.linalg.qr(matrix @ basis)[0]
        basis = np.linalg.qr(matrix.T @ basis)[0]
    basis = np.linalg.qr(matrix @ basis)[0]
    inner, values, _ = np.linalg.svd((matrix.T @ basis).T, full_matrices=False)
    return (basis @ inner)[:, :rank], values[:rank]


def cooccurrences(rows: Rows, vocabulary: int) -> csr_array:
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
