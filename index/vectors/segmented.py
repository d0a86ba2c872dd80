"""Segmented: the vectors of a language in the index that a build wrote, and a small one of later changes."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from index.arrays import Numbers, Vectors
from index.storage.index_manifest import IndexManifest, SearchSettings, VectorSegment
from index.storage.versions import ADDED_FILE
from index.vectors.faiss import FaissIndex
from index.vectors.vector_index import VectorIndex, by_cosine


class Segmented:
    """A VectorIndex over `main`, without the rows that a segment hides, and `added`, which has its rows."""

    def __init__(self, main: VectorIndex, added: VectorIndex | None, segment: VectorSegment) -> None:
        self._main, self._added, self._segment = main, added, segment
        self._rows = np.array(segment.rows, np.int64)
        self._deleted = np.array(segment.deleted, np.int64)
        self._hidden = np.union1d(self._deleted, np.array(segment.replaced, np.int64))
        self._count = len(main) + len(self._rows) - len(self._hidden)
        self.dimension = main.dimension

    def __len__(self) -> int:
        return self._count

    @staticmethod
    def main_rows_of(count: int, segment: VectorSegment) -> Numbers:
        """The row in LANG.faiss, of `count` rows, of each row that it has, deleted ones left out."""
        return np.delete(np.arange(count), np.array(segment.deleted, np.int64))

    @cached_property
    def _main_rows(self) -> Numbers:
        return self.main_rows_of(len(self._main), self._segment)

    def search(self, queries: Vectors, k: int, *, batched: bool = False) -> tuple[Vectors, Numbers]:
        k = min(k, len(self))
        cosines, rows = self._main.search(queries, k + len(self._hidden), batched=batched)
        cosines[np.isin(rows, self._hidden)] = -np.inf
        rows = rows - np.searchsorted(self._deleted, rows)
        if self._added is not None:
            more, places = self._added.search(queries, k, batched=batched)
            cosines, rows = np.hstack([cosines, more]), np.hstack([rows, self._rows[places]])
        cosines, rows = by_cosine(cosines, rows)
        return cosines[:, :k], rows[:, :k]

    def reconstruct(self, rows: Sequence[int] | Numbers) -> Vectors:
        rows = np.asarray(rows, np.int64)
        vectors = np.zeros((len(rows), self.dimension), np.float32)
        later = np.isin(rows, self._rows)
        vectors[~later] = self._main.reconstruct(self._main_rows[rows[~later]])
        if self._added is not None and later.any():
            order = np.argsort(self._rows)
            places = order[np.searchsorted(self._rows, rows[later], sorter=order)]
            vectors[later] = self._added.reconstruct(places)
        return vectors


def open_vectors(folder: Path, language: str, manifest: IndexManifest, threads: int = 1) -> VectorIndex:
    """Open the sentence vectors of a language of a verified version: in FAISS or where Milvus has them.

    Raises DamagedError if its shape is not that of the manifest, StoreError if Milvus does not answer.
    """
    entry, dimension = manifest.languages[language], manifest.dimension
    if entry.search.store == "milvus":
        from index.vectors.milvus import MilvusIndex  # pymilvus is an extra

        return MilvusIndex(manifest.options.store or "", entry.sentences, dimension, entry.search)
    segment, path = entry.segment, folder / f"{language}.faiss"
    main = FaissIndex.open(path, entry.main_rows, dimension, entry.search, threads)
    if segment is None:
        return main
    size, added = len(segment.rows), folder / ADDED_FILE.format(language)
    small = FaissIndex.open(added, size, dimension, SearchSettings(), threads) if size else None
    return Segmented(main, small, segment)
