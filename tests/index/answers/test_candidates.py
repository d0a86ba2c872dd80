"""Candidates: by CSLS the same as ranking everything, whatever the order of rows; and what joins them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from index.answers.candidates import Candidates, joined, limited, ranked, with_rows
from index.storage.index_manifest import SearchSettings
from index.vectors.faiss import FaissIndex, factory_string, write_faiss
from index.vectors.neighbourhoods import csls, neighbourhood_means
from index.vectors.vector_index import CANDIDATE_COUNT, VectorIndex
from tests.bundles import unit_rows

Vectors = NDArray[np.float32]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ranking")


def opened(folder: Path, rows: Vectors) -> VectorIndex:
    path = folder / "x.faiss"
    path.unlink(missing_ok=True)
    search = SearchSettings(factory=factory_string(*rows.shape))
    write_faiss(path, rows, search.factory)
    index = FaissIndex.open(path, *rows.shape, search)
    if search.factory != "Flat":
        index.use("k_factor_rf=4")
    return index


def rank(index: VectorIndex, means: Vectors, queries: Vectors, k: int) -> Candidates:
    cosines, rows = index.search(queries, max(CANDIDATE_COUNT, k))
    return ranked(cosines, rows, means[rows], k)


@settings(max_examples=40, deadline=None)
@given(
    count=st.integers(1, CANDIDATE_COUNT), n=st.integers(1, 8), k=st.integers(1, 20), seed=st.integers(0, 999)
)
def test_ranking_equals_csls_where_all_rows_are_candidates(
    folder: Path, count: int, n: int, k: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    rows, queries = unit_rows(random, count), unit_rows(random, n)
    similarities = queries @ rows.T
    found = rank(opened(folder, rows), neighbourhood_means(similarities.T), queries, k)
    scores = csls(similarities)
    best = -np.sort(-scores, axis=1)[:, :k]
    assert found["question"].tolist() == np.repeat(np.arange(n), min(k, count)).tolist()
    np.testing.assert_allclose(found["score"], best.ravel(), atol=1e-5)
    np.testing.assert_allclose(scores[found["question"], found["row"]], found["score"], atol=1e-5)
    np.testing.assert_allclose(similarities[found["question"], found["row"]], found["cosine"], atol=1e-5)


@settings(max_examples=30, deadline=None)
@given(count=st.integers(2, 300), seed=st.integers(0, 999))
def test_ranking_does_not_depend_on_the_order_of_rows(folder: Path, count: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, queries, means = unit_rows(random, count), unit_rows(random, 3), random.random(count, np.float32)
    order = random.permutation(count)
    first = rank(opened(folder, rows), means, queries, 5)
    second = rank(opened(folder, rows[order]), means[order], queries, 5)
    np.testing.assert_array_equal(order[second["row"]], first["row"])
    np.testing.assert_array_equal(second["score"], first["score"])
    np.testing.assert_array_equal(second["gap"], first["gap"])


def test_ranking_the_top_by_cosine_finds_the_best_of_all(folder: Path) -> None:
    """Recall of re-ranking: of 5,000 crowded rows the best by CSLS are among the candidates."""
    random = np.random.default_rng(0)
    rows, queries = unit_rows(random, 5000, 32), unit_rows(random, 5000, 32)
    queries[:300] = rows[:300] + 0.1 * random.standard_normal((300, 32)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    similarities = queries @ rows.T
    scores = csls(similarities)[:300]
    found = rank(opened(folder, rows), neighbourhood_means(similarities.T), queries[:300], 10)
    found_rows = found["row"].reshape(300, 10)
    best = np.argsort(-scores, axis=1)[:, :10]
    np.testing.assert_array_equal(found_rows[:, 0], best[:, 0])
    overlap = [len(set(a) & set(b)) / 10 for a, b in zip(found_rows.tolist(), best.tolist(), strict=True)]
    assert np.mean(overlap) > 0.99


def test_what_is_left_out_is_no_candidate() -> None:
    cosines = np.array([[0.9, 0.2, -1.0], [-1.0, -1.0, -1.0]], np.float32)
    found = ranked(cosines, np.array([[3, 1, 2], [0, 1, 2]]), np.zeros((2, 3), np.float32), 3)
    assert (found["question"].tolist(), found["row"].tolist()) == ([0, 0], [3, 1])
    assert found.by_question() == [[0, 1], []]


def test_added_rows_are_candidates_in_order(folder: Path) -> None:
    random = np.random.default_rng(6)
    rows, queries, means = unit_rows(random, 60), unit_rows(random, 2), np.zeros(60, np.float32)
    index = opened(folder, rows)
    table = rank(index, means, queries, 3)
    table = table.with_columns(own=np.zeros(len(table)))
    far = int(np.argmin(queries[1] @ rows.T))
    added = {"question": np.array([1]), "row": np.array([far]), "own": np.array([0.5])}
    found = with_rows(table, added, queries, index, means)
    (place,) = np.flatnonzero(found["own"]).tolist()
    assert len(found) == len(table) + 1
    assert (found["question"][place], found["row"][place]) == (1, far)
    assert found["cosine"][place] == pytest.approx(float(queries[1] @ rows[far]), abs=1e-5)
    for of_question in found.by_question():
        assert (np.diff(found["score"][of_question]) <= 0).all()
    assert found["gap"][place] < 0


def test_limits_and_joining() -> None:
    cosines = np.array([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4]], np.float32)
    table = ranked(cosines, np.arange(6).reshape(2, 3), np.zeros((2, 3), np.float32), 3)
    assert limited(table, [1, 2])["row"].tolist() == [0, 3, 4]
    both = joined([table, limited(table, [1, 0])])
    assert both.count == 4
    assert both["question"].tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert both["row"].tolist() == [0, 1, 2, 3, 4, 5, 0]
