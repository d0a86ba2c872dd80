"""ExactIndex: the screen finds what an exact search finds."""

from pathlib import Path

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from index.errors import DamagedError
from index.search.exact import SCREEN_ROWS
from index.search.hubness import neighbourhood_means
from index.search.screen import QUERIES
from index.search.vectors import VectorIndex, open_vectors, write_vectors

Vectors = NDArray[np.float32]


def unit_rows(random: np.random.Generator, count: int, dimension: int, clusters: int = 0) -> Vectors:
    """Random unit rows; with clusters, crowded as captions are."""
    rows = random.standard_normal((count, dimension))
    if clusters:
        rows = (
            0.5 * rows + random.standard_normal((clusters, dimension))[random.integers(clusters, size=count)]
        )
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def made(folder: Path, rows: Vectors) -> VectorIndex:
    write_vectors(folder / "x.faiss", rows)
    return open_vectors(folder / "x.faiss", *rows.shape)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[VectorIndex, Vectors]:
    """More rows than are searched without a screen."""
    rows = unit_rows(np.random.default_rng(0), 3 * SCREEN_ROWS, 64, clusters=200)
    return made(tmp_path_factory.mktemp("many"), rows), rows


def test_rows_come_back_as_written(tmp_path: Path) -> None:
    rows = unit_rows(np.random.default_rng(0), 2500, 16)
    index = made(tmp_path, rows)
    np.testing.assert_array_equal(index.vectors(), rows)
    np.testing.assert_array_equal(index.vectors(10, 5), rows[10:15])
    np.testing.assert_array_equal(np.concatenate(list(index.blocks())), rows)


def test_the_screen_finds_the_top_100(many: tuple[VectorIndex, Vectors]) -> None:
    index, rows = many
    random = np.random.default_rng(1)
    queries = rows[:200] + 0.05 * random.standard_normal((200, 64)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    exact = np.argsort(-queries @ rows.T, axis=1)[:, :100]
    found = np.concatenate([index.search(query[None], 100)[1] for query in queries])
    recall = [len(set(f) & set(e)) / 100 for f, e in zip(found.tolist(), exact.tolist(), strict=True)]
    assert np.mean(recall) > 0.999
    np.testing.assert_array_equal(found[:, :10], exact[:, :10])


def test_few_and_many_queries_give_the_same(many: tuple[VectorIndex, Vectors]) -> None:
    index = many[0]
    queries = unit_rows(np.random.default_rng(2), 4 * QUERIES + 1, 64)
    cosines, found = index.search(queries, 20)
    for query in range(0, len(queries), 7):
        alone, rows_alone = index.search(queries[query : query + 1], 20)
        np.testing.assert_array_equal(rows_alone[0], found[query])
        np.testing.assert_array_equal(alone[0], cosines[query])


@settings(max_examples=40, deadline=None)
@given(
    count=st.integers(1, 60),
    dimension=st.integers(1, 12),
    k=st.integers(1, 80),
    n=st.integers(1, 5),
    seed=st.integers(0, 999),
)
def test_a_search_equals_brute_force(
    tmp_path_factory: pytest.TempPathFactory, count: int, dimension: int, k: int, n: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    rows, queries = unit_rows(random, count, dimension), unit_rows(random, n, dimension)
    cosines, found = made(tmp_path_factory.mktemp("small"), rows).search(queries, k)
    assert found.shape == (n, min(k, count))
    similarities = queries @ rows.T
    np.testing.assert_allclose(cosines, -np.sort(-similarities, axis=1)[:, :k], atol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(similarities, found, axis=1), cosines, atol=1e-5)


def test_ties_go_to_the_lower_row(tmp_path: Path) -> None:
    rows = np.tile(unit_rows(np.random.default_rng(0), 1, 8), (50, 1))
    assert made(tmp_path, rows).search(rows[:1], 5)[1].tolist() == [[0, 1, 2, 3, 4]]


def test_a_query_of_zeros_is_answered(many: tuple[VectorIndex, Vectors]) -> None:
    cosines, _ = many[0].search(np.zeros((1, 64), np.float32), 3)
    np.testing.assert_array_equal(cosines, np.zeros((1, 3)))


@pytest.mark.parametrize("count", [4, 300])
def test_neighbourhood_means_equal_hubness(tmp_path: Path, count: int) -> None:
    random = np.random.default_rng(0)
    rows, queries = unit_rows(random, count, 16), unit_rows(random, 70, 16)
    found = made(tmp_path, rows).neighbourhood_means(queries, 10)
    np.testing.assert_allclose(found, neighbourhood_means(queries @ rows.T, 10), atol=1e-6)


def test_an_empty_index_has_no_neighbours(tmp_path: Path) -> None:
    index = made(tmp_path, np.zeros((0, 8), np.float32))
    np.testing.assert_array_equal(index.neighbourhood_means(np.ones((3, 8), np.float32), 10), np.zeros(3))
    assert index.search(np.ones((2, 8), np.float32), 5)[1].shape == (2, 0)


@pytest.mark.parametrize(("count", "dimension"), [(9, 8), (10, 4), (11, 8)])
def test_another_size_than_the_manifest_says_is_refused(tmp_path: Path, count: int, dimension: int) -> None:
    write_vectors(tmp_path / "x.faiss", unit_rows(np.random.default_rng(0), 10, 8))
    with pytest.raises(DamagedError, match=f"not {count} vectors of {dimension} dimensions"):
        open_vectors(tmp_path / "x.faiss", count, dimension)


def test_another_kind_of_index_is_refused(tmp_path: Path) -> None:
    flat = faiss.IndexFlatL2(8)
    flat.add(unit_rows(np.random.default_rng(0), 10, 8))
    faiss.write_index(flat, str(tmp_path / "x.faiss"))
    with pytest.raises(DamagedError):
        open_vectors(tmp_path / "x.faiss", 10, 8)


def test_what_is_no_index_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.faiss").write_bytes(b"nonsense" * 100)
    with pytest.raises(DamagedError, match="FAISS cannot read it"):
        open_vectors(tmp_path / "x.faiss", 10, 8)


def test_a_file_that_cannot_be_written_says_which(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="FAISS cannot write it"):
        write_vectors(tmp_path / "nowhere" / "x.faiss", np.zeros((1, 8), np.float32))


def test_the_file_is_memory_mapped(tmp_path: Path) -> None:
    made_index = made(tmp_path, unit_rows(np.random.default_rng(0), 1000, 64))
    mapped = Path("/proc/self/maps").read_text()
    assert str(tmp_path / "x.faiss") in mapped
    assert made_index.count == 1000
