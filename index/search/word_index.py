"""WordIndex: the words of one language, their vectors after alignment, searched with CSLS."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.confidence.calibration import WORDS_FALLBACK, features
from index.encoder.vectors import Vectors
from index.search.ranking import Match, Ranked, candidates, gaps, rank, select
from index.storage.index_manifest import IndexManifest
from index.storage.tables import read_array, read_table
from index.text.normalisation import clean
from index.vectors.faiss import FaissIndex
from index.vectors.neighbourhoods import NeighbourhoodMeans
from index.vectors.vector_index import Rows, VectorIndex

WORD_COLUMNS = ("word", "count")
# Subtracted from the score for each factor of e between the frequencies of question and answer
# (docs/decisions/0007).
FREQUENCY_PENALTY = 0.05
UNKNOWN_RATIO = -1.0  # log ratio of frequencies where one is unknown, as cautious as an answer e times rarer
FOREIGN_RATIO = 5.0  # a word this many times as frequent in the source language is not of the target language
LEFT_OUT = -9.0  # a score and a confidence below all others
ID_INFIX = ":word:"  # an ID is the language, this, and the word


@dataclass(frozen=True)
class Questions:
    """n words to translate, with evidence beyond their aligned vectors.

    frequencies (n,): each word's share of all words used in its language, NaN if unknown; `frequency` gives
    it for any word of that language. `best_scores` gives, for rows of the index that is asked, the highest
    score of each with any word of that language.
    """

    frequencies: NDArray[np.float64]
    frequency: Callable[[str], float]
    best_scores: Callable[[Rows], NDArray[np.float32]]


class WordIndex:
    """The words of one language of an index.

    A word's vector is made from its tokens and from the sentences that contain it (contexts.py), and rotated
    into the space that all languages share (procrustes.py). The vector of a word outside the vocabulary is
    made from its tokens alone.
    """

    def __init__(
        self,
        language: str,
        vectors: VectorIndex,
        table: Any,  # noqa: ANN401 (pyarrow is untyped)
        means: NDArray[np.float32],
        rotation: NDArray[np.float32],
        sources: Sequence[str],
    ) -> None:
        self.language = language
        self.vectors = vectors
        self.rotation = rotation
        self._words = table.column("word")
        self._counts = table.column("count")
        self._total = sum(self._counts.to_pylist())
        self._rows = {word: row for row, word in enumerate(self._words.to_pylist())}
        self._means = NeighbourhoodMeans(means, sources)

    def __len__(self) -> int:
        return len(self.vectors)

    def __contains__(self, word: str) -> bool:
        return fold(word) in self._rows

    def vector(self, word: str) -> Vectors | None:
        """The aligned unit vector (d,) of a word; None if it is not in the vocabulary."""
        row = self._rows.get(fold(word))
        return None if row is None else self.vectors.reconstruct([row])[0]

    def row_of(self, word: str) -> int | None:
        """The row of a lower-cased word; None if it is not in the vocabulary."""
        return self._rows.get(word)

    def vocabulary(self) -> list[tuple[str, int]]:
        """All words with their numbers of occurrences, most frequent first."""
        return list(zip(self._words.to_pylist(), self._counts.to_pylist(), strict=True))

    @classmethod
    def open(cls, folder: Path, language: str, manifest: IndexManifest, *, threads: int = 1) -> "WordIndex":
        """Open LANG.words.* of a verified version."""
        entry, sources = manifest.languages[language], manifest.sources(language)
        count, dimension, stem = entry.words, manifest.dimension, f"{language}.words"
        return cls(
            language,
            FaissIndex.open(folder / f"{stem}.faiss", count, dimension, entry.word_search, threads),
            read_table(folder / f"{stem}.arrow", WORD_COLUMNS, count),
            read_array(folder / f"{stem}.hubness.npy", (count, len(sources))),
            read_array(folder / f"{stem}.rotation.npy", (dimension, dimension)),
            sources,
        )

    def search(
        self, queries: Vectors, source: str, k: int = 1, questions: Questions | None = None
    ) -> list[list[Match]]:
        """Find up to k matches for each aligned unit vector (n, d) of a word in `source`, best first.

        Matches are ordered by CSLS; with `questions`, by a confidence that also considers frequency and
        what else the answers translate, leaving out words of `source` that hardly occur in this language.
        """
        if len(queries) == 0:
            return []
        if questions is None:
            ranked = rank(self.vectors, self.means_from(source), queries, k, WORDS_FALLBACK)
        else:
            ranked = self._rank(queries, source, k, questions)
        return [
            [self._match(*values) for values in answer if values[2] > LEFT_OUT] for answer in ranked.answers()
        ]

    def _rank(self, queries: Vectors, source: str, k: int, questions: Questions) -> Ranked:
        cosines, rows = candidates(self.vectors, queries, k)
        cosines, rows, plain, _ = select(cosines, rows, self.means_from(source)[rows], rows.shape[1])
        distinct, places = np.unique(rows, return_inverse=True)
        places = places.reshape(rows.shape)
        words = [self._words[row].as_py() for row in distinct.tolist()]
        frequencies = np.array([self.frequency(word) for word in words])
        source_frequencies = np.array([questions.frequency(word) for word in words])
        ratios = np.log(frequencies)[places] - np.log(questions.frequencies)[:, None]
        ratios = np.nan_to_num(ratios, nan=UNKNOWN_RATIO).astype(np.float32)
        scores = plain - FREQUENCY_PENALTY * np.abs(ratios)
        foreign = (source_frequencies > FOREIGN_RATIO * frequencies)[places]
        # Foreign words stay where every candidate is one.
        scores[foreign & ~foreign.all(axis=1, keepdims=True)] = LEFT_OUT
        order = np.argsort(-scores, axis=1, kind="stable")
        best = np.arange(len(order))[:, None], order
        # How much better another word of the source language would suit the answer; 0 if none would.
        shortfalls = np.minimum(plain - questions.best_scores(distinct)[places], 0)
        values = features(cosines[best], scores[best], gaps(scores[best]), len(self))
        # An answer that is rarer than its question is less likely; one that is more frequent is not.
        rarer = np.minimum(ratios, 0)
        values = np.column_stack([values, shortfalls[best].ravel(), rarer[best].ravel()])
        chances = WORDS_FALLBACK.probability(values).reshape(order.shape)
        chances[scores[best] <= LEFT_OUT] = LEFT_OUT
        surest = best[0], np.argsort(-chances, axis=1, kind="stable")[:, :k]
        return Ranked(rows[best][surest], cosines[best][surest], plain[best][surest], chances[surest])

    def frequency(self, word: str) -> float:
        """A folded word's share of all words used in this language; NaN if it is not in the vocabulary."""
        row = self._rows.get(word)
        return float("nan") if row is None else self._counts[row].as_py() / self._total

    @cached_property
    def rarities(self) -> NDArray[np.float32]:
        """(count + 1,) how rare each word is: log(1 + occurrences of all words / occurrences of this word).

        The last entry is for words outside the vocabulary, which count as occurring once. If no listed word
        occurs in a sentence, all words are equally rare.
        """
        occurrences = np.maximum(np.append(self._counts.to_numpy(zero_copy_only=False), 1), 1)
        rarities: NDArray[np.float32] = np.log1p(max(1, self._total) / occurrences).astype(np.float32)
        return rarities

    def means_from(self, source: str) -> NDArray[np.float32]:
        """(count,) each word's mean cosine to its nearest neighbours in `source`."""
        return self._means.seen_from(source)

    def text(self, row: int) -> str:
        """The word of a row."""
        word: str = self._words[row].as_py()
        return word

    def id(self, row: int) -> str:
        """The ID of a row."""
        return f"{self.language}{ID_INFIX}{self.text(row)}"

    def _match(self, row: int, score: float, confidence: float, cosine: float) -> Match:
        return Match(self.text(row), score, confidence, self.id(row), cosine)


def fold(word: str) -> str:
    """Clean and lower-case a word, as vocabularies store it."""
    return clean(word).lower()
