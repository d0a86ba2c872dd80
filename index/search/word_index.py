"""WordIndex: the words of one language, their vectors after alignment, searched with CSLS."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log1p
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.confidence.calibration import WORDS_FALLBACK, features
from index.encoder.vectors import Vectors
from index.search.faiss_index import FaissIndex
from index.search.hubness import NeighbourhoodMeans
from index.search.ranking import Match, Ranked, candidates, gaps, rank, select
from index.search.vector_index import VectorIndex
from index.storage.index_manifest import IndexManifest, Scoring
from index.storage.tables import read_array, read_table
from index.text.normalisation import clean

COLUMNS = ("word", "count")
RARITY = 0.05  # of score, for each factor e between the frequencies of question and answer (decision 92)
FOREIGN = 5.0  # times as frequent in the language asked from: no word of the language asked for
LEFT_OUT = -9.0  # a score and a confidence below all others
WORD = ":word:"  # in the ID of a word, between its language and itself


@dataclass(frozen=True)
class Questions:
    """Words asked, with what else than their place tells right answers from wrong ones.

    own (n, d): the encoder's unit vectors of the words; `encode` gives those of words of a language.
    frequencies (n,): how often the words are used in their language, as a share of all, NaN where unknown;
    `frequency` gives that of any word there.
    """

    own: Vectors
    frequencies: NDArray[np.float64]
    encode: Callable[[Sequence[str], str], Vectors]
    frequency: Callable[[str], float]


class WordIndex:
    """The words of one language of an index.

    A word's vector is that of its tokens and of the sentences that have it (contexts.py), turned by the
    language's rotation (Procrustes) into the space that all languages share; a word outside the vocabulary
    has that of its tokens.
    """

    scoring: Scoring = "csls"

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
        self._known = {word: row for row, word in enumerate(self._words.to_pylist())}
        self._means = NeighbourhoodMeans(means, sources)

    def __len__(self) -> int:
        return len(self.vectors)

    def __contains__(self, word: str) -> bool:
        return fold(word) in self._known

    def known(self, word: str) -> Vectors | None:
        """The aligned unit vector (d,) of a word of the vocabulary; None for another."""
        row = self._known.get(fold(word))
        return None if row is None else self.vectors.reconstruct([row])[0]

    def row_of(self, word: str) -> int | None:
        """The row of a lower-cased word, None where there is none."""
        return self._known.get(word)

    def vocabulary(self) -> list[tuple[str, int]]:
        """Words and how often they occur, most frequent first."""
        return list(zip(self._words.to_pylist(), self._counts.to_pylist(), strict=True))

    @classmethod
    def open(cls, folder: Path, language: str, manifest: IndexManifest, *, threads: int = 1) -> "WordIndex":
        """Open LANG.words.* of a verified version."""
        entry, sources = manifest.languages[language], manifest.sources(language)
        count, dimension, stem = entry.words, manifest.dimension, f"{language}.words"
        return cls(
            language,
            FaissIndex.open(folder / f"{stem}.faiss", count, dimension, entry.word_search, threads),
            read_table(folder / f"{stem}.arrow", COLUMNS, count),
            read_array(folder / f"{stem}.hubness.npy", (count, len(sources))),
            read_array(folder / f"{stem}.rotation.npy", (dimension, dimension)),
            sources,
        )

    def search(
        self, queries: Vectors, source: str, k: int = 1, questions: Questions | None = None
    ) -> list[list[Match]]:
        """(n, d) aligned unit vectors of words in `source` -> at most k matches each, best first.

        By CSLS; with `questions` by a confidence that also knows frequencies and spelling, and without words
        of `source` that the language hardly has.
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
        there = np.array([questions.frequency(word) for word in words])
        differences = np.abs(np.log(questions.frequencies)[:, None] - np.log(frequencies)[places])
        differences = np.nan_to_num(differences).astype(np.float32)
        scores = plain - RARITY * differences
        # Not where nothing else is near.
        foreign = (there > FOREIGN * frequencies)[places]
        scores[foreign & ~foreign.all(axis=1, keepdims=True)] = LEFT_OUT
        order = np.argsort(-scores, axis=1, kind="stable")
        best = np.arange(len(order))[:, None], order
        answers = questions.encode(words, self.language)[places[best]]
        likeness = np.einsum("nd,nkd->nk", questions.own, answers)
        values = features(cosines[best], scores[best], gaps(scores[best]), len(self))
        values = np.column_stack([values, likeness.ravel(), differences[best].ravel()])
        chances = WORDS_FALLBACK.probability(values).reshape(order.shape)
        chances[scores[best] <= LEFT_OUT] = LEFT_OUT
        # What spelling alone supports may have the highest score, but not the highest confidence.
        surest = best[0], np.argsort(-chances, axis=1, kind="stable")[:, :k]
        return Ranked(rows[best][surest], cosines[best][surest], plain[best][surest], chances[surest])

    def frequency(self, word: str) -> float:
        """How often a folded word is used in this language, as a share of all words; NaN if it is unknown."""
        row = self._known.get(word)
        return float("nan") if row is None else self._counts[row].as_py() / self._total

    def rarity(self, word: str) -> float:
        """How rare a folded word is: log(1 + all words / its own), a word that is unknown as one that occurs
        once. Where no sentence has a listed word, all are as rare."""
        row = self._known.get(word)
        return log1p(max(1, self._total) / (1 if row is None else max(1, self._counts[row].as_py())))

    def means_from(self, source: str) -> NDArray[np.float32]:
        """(count,) each word's mean cosine to its nearest neighbours in `source`."""
        return self._means.seen_from(source)

    def rows(self, ids: Sequence[str]) -> list[int | None]:
        """The row of each ID, None where there is none."""
        parts = [word_id.partition(WORD) for word_id in ids]
        return [self._known.get(word) if language == self.language else None for language, _, word in parts]

    def text(self, row: int) -> str:
        """The word of a row."""
        word: str = self._words[row].as_py()
        return word

    def id(self, row: int) -> str:
        """The ID of a row."""
        return f"{self.language}{WORD}{self.text(row)}"

    def _match(self, row: int, score: float, confidence: float, cosine: float) -> Match:
        return Match(self.text(row), score, confidence, self.id(row), cosine)


def fold(word: str) -> str:
    """A word as vocabularies have it: cleaned and lower-cased."""
    return clean(word).lower()
