"""WordIndex: the words of one language, their vectors after alignment, searched with CSLS."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.confidence.calibration import WORDS_FALLBACK
from index.encoder.vectors import Vectors
from index.search.faiss_index import FaissIndex
from index.search.hubness import NeighbourhoodMeans
from index.search.ranking import Match, rank
from index.search.vector_index import Rows, VectorIndex
from index.storage.index_manifest import SearchSettings
from index.storage.tables import read_array, read_table
from index.text.normalisation import clean

COLUMNS = ("word", "count")
WORD = ":word:"  # in the ID of a word, between its language and itself


@dataclass(frozen=True)
class OwnVectors:
    """The encoder's unit vectors of the words asked (n, d), and what gives them for words of a language."""

    questions: Vectors
    encode: Callable[[Sequence[str], str], Vectors]


@dataclass(frozen=True)
class Spelling:
    """How alike questions and answers are by their subwords alone, which says little of their meaning."""

    own: OwnVectors
    language: str
    words: Any  # pyarrow is untyped

    def extend(self, values: NDArray[np.float64], rows: Rows) -> NDArray[np.float64]:
        """The features of the answers `rows` (n, k), (n k, 4) -> (n k, 5)."""
        distinct, places = np.unique(rows, return_inverse=True)
        words = [self.words[row].as_py() for row in distinct.tolist()]
        answers = self.own.encode(words, self.language)[places.reshape(rows.shape)]
        return np.column_stack([values, np.einsum("nd,nkd->nk", self.own.questions, answers).ravel()])


class WordIndex:
    """The words of one language of an index.

    A word's vector is that of its tokens and of the sentences that have it (contexts.py), turned by the
    language's rotation (Procrustes) into the space that all languages share; a word outside the vocabulary
    has that of its tokens.
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
    def open(
        cls,
        folder: Path,
        language: str,
        *,
        count: int,
        dimension: int,
        sources: Sequence[str],
        search: SearchSettings,
        threads: int = 1,
    ) -> "WordIndex":
        """Open LANG.words.* of a verified version."""
        stem = f"{language}.words"
        return cls(
            language,
            FaissIndex.open(folder / f"{stem}.faiss", count, dimension, search, threads),
            read_table(folder / f"{stem}.arrow", COLUMNS, count),
            read_array(folder / f"{stem}.hubness.npy", (count, len(sources))),
            read_array(folder / f"{stem}.rotation.npy", (dimension, dimension)),
            sources,
        )

    def search(
        self, queries: Vectors, source: str, k: int = 1, own: OwnVectors | None = None
    ) -> list[list[Match]]:
        """(n, d) aligned unit vectors of words in `source` -> at most k matches each, best first, by CSLS.

        own: those of the encoder, for confidence to know what spelling alone supports.
        """
        if len(queries) == 0:
            return []
        more = None if own is None else Spelling(own, self.language, self._words)
        ranked = rank(self.vectors, self.means_from(source), queries, k, WORDS_FALLBACK, lengths=more)
        return [[self._match(*values) for values in answer] for answer in ranked.answers()]

    def means_from(self, source: str) -> NDArray[np.float32]:
        """(count,) each word's mean cosine to its nearest neighbours in `source`."""
        return self._means.seen_from(source)

    def row(self, word_id: str) -> int | None:
        """The row of an ID, None where there is none."""
        language, _, word = word_id.partition(WORD)
        row = self._words.index(word).as_py() if language == self.language else -1
        return None if row < 0 else row

    def _match(self, row: int, score: float, confidence: float, cosine: float) -> Match:
        word = self._words[row].as_py()
        return Match(word, score, confidence, f"{self.language}{WORD}{word}", cosine)


def fold(word: str) -> str:
    """A word as vocabularies have it: cleaned and lower-cased."""
    return clean(word).lower()
