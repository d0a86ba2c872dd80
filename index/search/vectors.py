"""Writing and opening the vectors of a language, whatever the structure that searches them."""

from pathlib import Path

import faiss

from index.encoder.text_encoder import Vectors
from index.search.exact import ExactIndex, write_exact
from index.search.inverted import InvertedIndex, write_inverted
from index.search.structure import EXACT, Structure
from index.search.vector_index import VectorIndex

__all__ = ["VectorIndex", "open_vectors", "write_vectors"]

# FAISS 1.15 uses BLAS only above this many queries times dimensions; its default leaves small batches slow.
BLAS_THRESHOLD = 800


def open_vectors(
    path: Path, count: int, dimension: int, threads: int = 1, structure: Structure = EXACT
) -> VectorIndex:
    """Open LANG.faiss and what belongs to it, checksums verified; DamagedError if not (count, dimension).

    Where `structure` is Milvus, the collection that LANG.milvus names; StoreError where it does not answer.
    """
    faiss.omp_set_num_threads(threads)
    faiss.cvar.distance_compute_blas_threshold = BLAS_THRESHOLD
    if structure.kind == "milvus":
        from index.search.milvus import MilvusIndex  # pymilvus is an extra

        return MilvusIndex.open(path.with_suffix(".milvus"), count, dimension, structure)
    if structure.kind == "exact":
        return ExactIndex.open(path, count, dimension)
    return InvertedIndex.open(path, count, dimension, structure)


def write_vectors(path: Path, vectors: Vectors, structure: Structure = EXACT) -> None:
    """Write (n, d) unit vectors as `path` (.faiss) and the files beside it that EXTENSIONS name."""
    if structure.kind == "exact":
        write_exact(path, vectors)
    else:
        write_inverted(path, vectors, structure.lists)
