"""Word translation: which words mean the same, by aligned sentences, and whether the encoder finds them.

The truth is that of Globetrotter (Surís et al. 2022, B.2), over words instead of subwords: two words are a
pair if each is among the other's five highest by tf-idf. It is noisy (woman, dress), so 100 is out of reach.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.scores import PairScore, Table, table_of_pairs
from evaluation.sets import available, read_aligned
from index.encoder import TextEncoder, Vectors
from index.errors import DataError
from index.hubness import NEIGHBOURS, neighbourhood_means
from index.procrustes import align
from index.progress import Progress
from index.text import words
from index.vocabulary import by_frequency, training_words

TOP = 5  # B.2: mutual top 5
FOUND = 10  # 5.3: Recall@10
LEAST = 5  # a word in fewer lines has a document too small to tell its translation from its neighbours
MAX_LINES = 50_000
BLOCK = 1024

Pairs = list[tuple[str, str]]
Sentences = Sequence[Sequence[str]]
NOTE = (
    f"Words that are among each other's {TOP} highest by tf-idf over the aligned lines; "
    "the vocabulary is that of the lines and of training, aligned by Procrustes."
)


@dataclass(frozen=True)
class Vocabulary:
    """Words, most frequent first, and their aligned unit vectors (n, d)."""

    words: Sequence[str]
    vectors: Vectors

    def rows(self, found: Sequence[str]) -> NDArray[np.int64]:
        place = {word: row for row, word in enumerate(self.words)}
        return np.array([place[word] for word in found], np.int64)


def word_translation(
    encoder: TextEncoder, data: Path, known: Sequence[str], chosen: Sequence[str]
) -> list[Table]:
    """Suite `words`: Recall@10 of the word pairs of `data`/LANG.txt, all and the differently spelt (5.3)."""
    texts = read_aligned(data, available(data, ".txt", known, chosen), most=MAX_LINES)
    sentences = {code: [words(line, code) for line in lines] for code, lines in texts.items()}
    truth = {(a, b): word_pairs(sentences[a], sentences[b]) for a, b in combinations(sentences, 2)}
    if not any(truth.values()):
        raise DataError(f"{data}: no word occurs often enough to tell what it means: give more lines")
    truth |= {(b, a): [(y, x) for x, y in pairs] for (a, b), pairs in truth.items()}
    vocabularies = _vocabularies(encoder, sentences)
    every, differing = [], []
    with Progress(len(truth), unit="pairs of languages", label="words") as bar:
        for codes in permutations(vocabularies, 2):
            found = score_words(*codes, truth[codes], vocabularies)
            every.append(found[0])
            differing.append(found[1])
            bar.advance()
    name = data.resolve().name
    return [
        table_of_pairs(f"{name}, words", NOTE, every, chosen),
        table_of_pairs(f"{name}, words spelt differently", NOTE, differing, chosen),
    ]


def score_words(
    source: str, target: str, pairs: Pairs, vocabularies: Mapping[str, Vocabulary]
) -> tuple[PairScore, PairScore]:
    """Per cent of (source word, target word) pairs whose second is among the 10 nearest of the first.

    Two scores: of all pairs, and of those whose words are spelt differently.
    """
    hits = _hits(vocabularies[source], vocabularies[target], pairs)
    differing = np.array([x != y for x, y in pairs], bool)
    return _score(source, target, hits), _score(
        source, target, {key: found[differing] for key, found in hits.items()}
    )


def _hits(one: Vocabulary, other: Vocabulary, pairs: Pairs) -> dict[str, NDArray[np.bool_]]:
    """measure -> (n,) whether each pair's second word is found, a block of queries at a time."""
    queries, answers = one.rows([x for x, _ in pairs]), other.rows([y for _, y in pairs])
    hubness = _hubness(other.vectors, one.vectors)
    hits: dict[str, list[NDArray[np.bool_]]] = {"cosine_r10": [], "csls_r10": []}
    for start in range(0, len(pairs), BLOCK):
        cosines = one.vectors[queries[start : start + BLOCK]] @ other.vectors.T
        right = answers[start : start + BLOCK]
        hits["cosine_r10"].append(_found(cosines, right))
        # The mean of the query's own neighbours, the rest of CSLS, is the same for all its candidates.
        hits["csls_r10"].append(_found(2 * cosines - hubness, right))
    return {key: np.concatenate([np.zeros(0, bool), *blocks]) for key, blocks in hits.items()}


def _score(source: str, target: str, hits: Mapping[str, NDArray[np.bool_]]) -> PairScore:
    n = len(next(iter(hits.values())))
    measures = {key: 100 * float(np.mean(found)) for key, found in hits.items()} if n else {}
    return PairScore(source, target, n, measures)


def word_pairs(first: Sentences, second: Sentences, *, top: int = TOP, least: int = LEAST) -> Pairs:
    """The pairs of words that translate each other in aligned sentences (word lists, line i with line i).

    Words in fewer than `least` lines are left out. Most frequent words of `first` come first.
    """
    lexicons = [_lexicon(sentences, least) for sentences in (first, second)]
    one, other = (
        [np.array([lexicon[word] for word in line if word in lexicon], np.int64) for line in sentences]
        for sentences, lexicon in zip((first, second), lexicons, strict=True)
    )
    forward = _best(one, other, top)
    backward = {(x, y) for y, x in _best(other, one, top)}
    names = [list(lexicon) for lexicon in lexicons]
    return [(names[0][x], names[1][y]) for x, y in sorted(forward & backward)]


def _lexicon(sentences: Sentences, least: int) -> dict[str, int]:
    """Words in at least `least` lines, numbered from the most frequent."""
    counts = Counter(chain.from_iterable(set(line) for line in sentences))
    return {word: row for row, word in enumerate(by_frequency(counts)) if counts[word] >= least}


def _best(
    one: Sequence[NDArray[np.int64]], other: Sequence[NDArray[np.int64]], top: int
) -> set[tuple[int, int]]:
    """(word of one, word of other) for the `top` of other by tf-idf of each word of one (B.2, eq. 6, 7).

    The document of a word i is all words of other, with repetition, in the lines that i is in;
    tf = f_ij / sum_j f_ij, idf = log(documents / documents with j). What all documents have (0) is no answer.
    """
    width = 1 + max((int(line.max()) for line in other if len(line)), default=0)
    keys = [np.add.outer(np.unique(a) * width, b).ravel() for a, b in zip(one, other, strict=True)]
    found, counts = np.unique(np.concatenate([np.zeros(0, np.int64), *keys]), return_counts=True)
    i, j = np.divmod(found, width)
    idf = np.log(len(np.unique(i)) / np.bincount(j)[j])
    # Rounded, so that a tie (2 log 2 = log 4) is broken by frequency and not by the last bit.
    value = np.round(counts / np.bincount(i, counts)[i] * idf, 12)
    order = np.lexsort((j, -value, i))
    i, j, value = i[order], j[order], value[order]
    place = np.arange(len(i)) - np.searchsorted(i, i)
    kept = (place < top) & (value > 0)
    return set(zip(i[kept].tolist(), j[kept].tolist(), strict=True))


def _vocabularies(encoder: TextEncoder, sentences: Mapping[str, Sentences]) -> dict[str, Vocabulary]:
    """The words of the sentences and of training, as an index of the sentences would have them."""
    counts = {
        code: Counter(chain.from_iterable(lines)) + training_words(encoder.bundle, code)
        for code, lines in sentences.items()
    }
    found = {code: by_frequency(occurrences) for code, occurrences in counts.items()}
    vectors = {code: encoder.word_vectors(spellings) for code, spellings in found.items()}
    rotations = align(vectors).rotations
    return {code: Vocabulary(found[code], vectors[code] @ rotations[code]) for code in found}


def _hubness(rows: Vectors, others: Vectors) -> NDArray[np.float32]:
    """(n,) each row's mean cosine to its nearest neighbours among all of `others`."""
    blocks = range(0, len(rows), BLOCK)
    means = [neighbourhood_means(rows[start : start + BLOCK] @ others.T, NEIGHBOURS) for start in blocks]
    return np.concatenate(means)


def _found(scores: NDArray[np.floating], answers: NDArray[np.int64]) -> NDArray[np.bool_]:
    right = scores[np.arange(len(answers)), answers]
    found: NDArray[np.bool_] = (scores > right[:, None]).sum(axis=1) < FOUND
    return found
