"""SentenceIndex: the sentences of one language, their vectors, how crowded each one's surroundings are."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.confidence import FALLBACK, Calibration
from index.corpora.sentence import Sentence
from index.encoder import Vectors
from index.groups import Groups
from index.ranking import Match, assess, rank
from index.search import EXACT, Structure
from index.texts import read_array, read_table, write_table
from index.vectors import VectorIndex, open_vectors

COLUMNS = ("id", "text", "metadata")


class SentenceIndex:
    """The sentences of one language; `sources` are the languages that its hubness was measured from."""

    def __init__(
        self,
        vectors: VectorIndex,
        table: Any,  # noqa: ANN401 (pyarrow is untyped)
        means: NDArray[np.float32],
        sources: Sequence[str],
        calibration: Calibration = FALLBACK,
        groups: Groups | None = None,
    ) -> None:
        self.vectors, self.groups = vectors, groups
        self._table = table
        self._ids, self._texts, self._metadata = (table.column(name) for name in COLUMNS)
        self._means = dict(zip(sources, np.ascontiguousarray(means.T), strict=True))
        # For queries in a language that the index has no sentences of.
        self._overall = means.mean(axis=1) if sources else np.zeros(vectors.count, np.float32)
        self._calibration = calibration

    def __len__(self) -> int:
        return self.vectors.count

    @classmethod
    def open(
        cls,
        folder: Path,
        language: str,
        *,
        count: int,
        dimension: int,
        sources: Sequence[str],
        links: int = 0,
        calibration: Calibration | None = None,
        threads: int = 1,
        structure: Structure = EXACT,
    ) -> "SentenceIndex":
        """Open LANG.faiss, LANG.arrow and LANG.hubness.npy of a verified version."""
        return cls(
            open_vectors(folder / f"{language}.faiss", count, dimension, threads, structure),
            read_table(folder / f"{language}.arrow", COLUMNS, count),
            read_array(folder / f"{language}.hubness.npy", (count, len(sources))),
            sources,
            calibration or FALLBACK,
            Groups.open(folder / f"{language}.groups.arrow", links) if links else None,
        )

    def search(self, queries: Vectors, source: str, k: int = 1) -> list[list[Match]]:
        """(n, d) unit vectors of sentences in `source` -> at most k matches each, best first, by CSLS."""
        if len(queries) == 0:
            return []
        found = rank(self.vectors, self.means_from(source), queries, k, self._calibration)
        return [[self._match(*values) for values in answer] for answer in found.answers()]

    def assess(self, query: Vectors, rows: Sequence[int], source: str) -> list[Match]:
        """Score some rows for a sentence in `source`, a unit vector (1, d), as in search."""
        found = assess(self.vectors, self.means_from(source), query, rows, self._calibration)
        return [self._match(*values) for values in found.answers()[0]]

    def means_from(self, source: str) -> NDArray[np.float32]:
        """(count,) each sentence's mean cosine to its nearest neighbours in `source`."""
        means: NDArray[np.float32] = self._means.get(source, self._overall)
        return means

    def row(self, own: str) -> int | None:
        """The row of an ID, None where there is none."""
        row = self._ids.index(own).as_py()
        return None if row < 0 else row

    def sentence(self, row: int) -> Sentence:
        """What a row holds, without its language and line."""
        return sentence_of(self._table, row)

    def _match(self, row: int, score: float, confidence: float, cosine: float) -> Match:
        return Match(
            text=self._texts[row].as_py(),
            score=score,
            confidence=confidence,
            id=self._ids[row].as_py(),
            cosine=cosine,
            metadata=json.loads(self._metadata[row].as_py()),
        )


def sentence_of(table: Any, row: int) -> Sentence:  # noqa: ANN401 (pyarrow is untyped)
    """A row of LANG.arrow, without its language and line."""
    own, text, metadata = (table.column(name)[row].as_py() for name in COLUMNS)
    return Sentence(own, text, "", 0, json.loads(metadata))


def write_sentences(
    path: Path, ids: Sequence[str], texts: Sequence[str], metadata: Sequence[str] | None = None
) -> None:
    """Write LANG.arrow; `metadata` are JSON objects."""
    write_table(path, {"id": ids, "text": texts, "metadata": metadata or ["{}"] * len(texts)})
