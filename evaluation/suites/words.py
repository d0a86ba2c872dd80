"""Word translation (Globetrotter 5.3): whether the encoder finds the words that translate each other.

Measured on whole words, as users ask for them, and on the encoder's tokens, as in the paper, both before and
after the word spaces of the languages are aligned by Procrustes.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from evaluation.measures.scores import PairScore, Table, table_of_pairs
from evaluation.suites.truth import (
    MUTUAL_TOP,
    Pairs,
    Sentences,
    Truth,
    count_units,
    divide,
    find_truth,
    read_sources,
)
from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import Vectors
from index.progress import Progress
from index.text.normalisation import words
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, csls_scores
from index.words.procrustes import align
from index.words.vocabulary import by_frequency, training_words

RECALL_AT = 10  # 5.3: Recall@10
QUERIES_AT_ONCE = 256

Hits = dict[str, NDArray[np.bool_]]
Vocabularies = Mapping[str, "Vocabulary"]


@dataclass(frozen=True)
class Vocabulary:
    """Words, most frequent first, their unit vectors (n, d) and the rotation (d, d) that aligns them."""

    words: Sequence[str]
    vectors: Vectors
    rotation: Vectors

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        place = {word: row for row, word in enumerate(self.words)}
        return np.array([place[word] for word in words], np.int64)

    def aligned(self) -> Vectors:
        return self.vectors @ self.rotation


def word_translation(
    encoder: TextEncoder, data: Path, known: Sequence[str], chosen: Sequence[str]
) -> list[Table]:
    """Suite `words`: Recall@10 of word pairs found in the text of `data`, all and those spelt differently."""
    sources = read_sources(data, known, chosen)
    truth = find_truth(sources, _words, "word pairs")
    seen = {
        code: occurrences + training_words(encoder.bundle, code) for code, occurrences in truth.counts.items()
    }
    tables = _tables("words", truth, make_vocabularies(seen, encoder.word_vectors), chosen)

    truth = find_truth(sources, lambda rows, _: encoder.tokenizer.spellings(rows), "token pairs")
    tokens = make_vocabularies(truth.counts, encoder.token_vectors)
    return tables + _tables("tokens", truth, tokens, chosen)


def _words(sentences: Sequence[str], code: str) -> Sentences:
    return [words(sentence, code) for sentence in sentences]


def corpus_counts(
    encoder: TextEncoder, data: Path | None, known: Sequence[str], chosen: Sequence[str]
) -> dict[str, Counter[str]]:
    """Count the words of each language in training and in the text of `data`, if given."""
    sources = read_sources(data, known, chosen) if data else []
    counts = count_units([divide(source, _words) for source in sources])
    return {
        code: counts.get(code, Counter()) + training_words(encoder.bundle, code) for code in (*known, *counts)
    }


def make_vocabularies(
    counts: Mapping[str, Counter[str]], embed: Callable[[Sequence[str], str], Vectors]
) -> dict[str, Vocabulary]:
    """The words of each language, their vectors, and the rotations that align them."""
    words_of = {code: by_frequency(occurrences) for code, occurrences in counts.items()}
    vectors = {code: embed(spellings, code) for code, spellings in words_of.items()}
    rotations = align(vectors).rotations
    return {code: Vocabulary(words_of[code], vectors[code], rotations[code]) for code in words_of}


def _tables(unit: str, truth: Truth, vocabularies: Vocabularies, chosen: Sequence[str]) -> list[Table]:
    scores = []
    with Progress(len(truth.pairs), unit="pairs of languages", label=unit) as bar:
        for (source, target), pairs in truth.pairs.items():
            scores.append(score_words(source, target, pairs, vocabularies))
            bar.advance()
    every, differing = ([score[part] for score in scores] for part in (0, 1))
    origin = ", ".join(f"{name} ({count} pairs of languages)" for name, count in truth.sources.items())
    sizes = ", ".join(f"{code} {len(vocabulary.words)}" for code, vocabulary in vocabularies.items())
    note = (
        f"The truth: {unit} that are among each other's {MUTUAL_TOP} highest by tf-idf, from {origin}. "
        f"Found: among the {RECALL_AT} nearest of all {unit} of the other language ({sizes}). "
        "Aligned by Procrustes, where it does not say before."
    )
    table = table_of_pairs(unit, note, every, chosen)
    return [
        replace(table, drawn=("csls_r10",)),
        table_of_pairs(f"{unit} spelt differently", note, differing, chosen),
    ]


def score_words(
    source: str, target: str, pairs: Pairs, vocabularies: Vocabularies
) -> tuple[PairScore, PairScore]:
    """Per cent of (source word, target word) pairs whose second is among the 10 nearest of the first.

    Two scores: of all pairs, and of those whose words are spelt differently.
    """
    source_words, target_words = vocabularies[source], vocabularies[target]
    rows = source_words.rows([x for x, _ in pairs]), target_words.rows([y for _, y in pairs])
    before = _hits(source_words.vectors, target_words.vectors, *rows)
    turned = not (_is_identity(source_words.rotation) and _is_identity(target_words.rotation))
    after = _hits(source_words.aligned(), target_words.aligned(), *rows) if turned else before
    hits = {f"before_{key}": hit for key, hit in before.items()} | after
    differing = np.array([x != y for x, y in pairs], bool)
    return _score(source, target, hits), _score(
        source, target, {key: hit[differing] for key, hit in hits.items()}
    )


def _hits(
    source_space: Vectors, target_space: Vectors, queries: NDArray[np.int64], answers: NDArray[np.int64]
) -> Hits:
    """measure -> (n,) whether each query's answer is found, by rows of the two spaces."""
    ranks = ranks_of(source_space, target_space, queries, answers)
    return {f"{key}_r{RECALL_AT}": rank < RECALL_AT for key, rank in ranks.items()}


def ranks_of(
    source_space: Vectors, target_space: Vectors, queries: NDArray[np.int64], answers: NDArray[np.int64]
) -> dict[str, NDArray[np.int64]]:
    """Rank the answers by cosine and by CSLS: (n,) how many rows of the target are nearer than `answers[i]`.

    `queries[i]` is a row of the source. Distinct queries are compared in blocks.
    """
    hubness = _hubness(target_space, source_space)
    ranks = {key: np.zeros(len(queries), np.int64) for key in ("cosine", "csls")}
    distinct, place = np.unique(queries, return_inverse=True)
    for start in range(0, len(distinct), QUERIES_AT_ONCE):
        cosines = source_space[distinct[start : start + QUERIES_AT_ONCE]] @ target_space.T
        # The query's own mean, the remaining term of CSLS, is the same for all candidates.
        scores = {"cosine": cosines, "csls": csls_scores(cosines, np.zeros(1), hubness)}
        queries_here = np.flatnonzero((place >= start) & (place < start + QUERIES_AT_ONCE))
        for key, values in scores.items():
            ranks[key][queries_here] = _ranks(values[place[queries_here] - start], answers[queries_here])
    return ranks


def _score(source: str, target: str, hits: Hits) -> PairScore:
    n = len(next(iter(hits.values())))
    measures = {key: 100 * float(np.mean(hit)) for key, hit in hits.items()} if n else {}
    for key in [key for key in measures if not key.startswith("before_")]:
        measures[f"rose_{key}"] = 100.0 * (measures[key] > measures[f"before_{key}"])
    return PairScore(source, target, n, measures)


def _is_identity(rotation: Vectors) -> bool:
    return bool((rotation == np.eye(len(rotation))).all())


def _hubness(rows: Vectors, others: Vectors) -> Vectors:
    """(n,) each row's mean cosine to its nearest neighbours among all of `others`."""
    nearest, _ = faiss.knn(rows, others, min(CSLS_NEIGHBOURS, len(others)), metric=faiss.METRIC_INNER_PRODUCT)
    means: Vectors = nearest.mean(axis=1)
    return means


def _ranks(scores: NDArray[np.floating], answers: NDArray[np.int64]) -> NDArray[np.int64]:
    right = scores[np.arange(len(answers)), answers]
    ranks: NDArray[np.int64] = (scores > right[:, None]).sum(axis=1)
    return ranks
