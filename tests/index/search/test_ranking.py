"""Ranking by CSLS over candidates: the same answers as ranking everything, whatever the order of rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from index.confidence.calibration import FALLBACK, Calibration, features
from index.search.ranking import rank
from index.storage.index_manifest import SearchSettings
from index.vectors.faiss import FaissIndex, factory_string, write_faiss
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, csls, neighbourhood_means
from index.vectors.vector_index import CANDIDATE_COUNT, VectorIndex

Vectors = NDArray[np.float32]


def unit_rows(random: np.random.Generator, count: int, dimension: int = 12) -> Vectors:
    rows = random.standard_normal((count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> object:
    return tmp_path_factory.mktemp("ranking")


def opened(folder: object, rows: Vectors) -> VectorIndex:
    path = folder / "x.faiss"  # type: ignore[operator]
    path.unlink(missing_ok=True)
    settings = SearchSettings(factory=factory_string(*rows.shape))
    write_faiss(path, rows, settings.factory)
    index = FaissIndex.open(path, *rows.shape, settings)
    if settings.factory != "Flat":
        index.use("k_factor_rf=4")
    return index


@settings(max_examples=40, deadline=None)
@given(
    count=st.integers(1, CANDIDATE_COUNT),
    n=st.integers(1, 8),
    k=st.integers(1, 20),
    seed=st.integers(0, 999),
)
def test_ranking_equals_csls_where_all_rows_are_candidates(
    folder: object, count: int, n: int, k: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    rows, queries = unit_rows(random, count), unit_rows(random, n)
    similarities = queries @ rows.T
    found = rank(opened(folder, rows), neighbourhood_means(similarities.T), queries, k, FALLBACK)
    scores = csls(similarities)
    assert found.rows.shape == (n, min(k, count))
    np.testing.assert_allclose(found.scores, -np.sort(-scores, axis=1)[:, :k], atol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(scores, found.rows, axis=1), found.scores, atol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(similarities, found.rows, axis=1), found.cosines, atol=1e-5)


@settings(max_examples=30, deadline=None)
@given(count=st.integers(2, 300), seed=st.integers(0, 999))
def test_ranking_does_not_depend_on_the_order_of_rows(folder: object, count: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, queries, means = unit_rows(random, count), unit_rows(random, 3), random.random(count, np.float32)
    order = random.permutation(count)
    first = rank(opened(folder, rows), means, queries, 5, FALLBACK)
    second = rank(opened(folder, rows[order]), means[order], queries, 5, FALLBACK)
    np.testing.assert_array_equal(order[second.rows], first.rows)
    np.testing.assert_array_equal(second.scores, first.scores)
    np.testing.assert_array_equal(second.confidences, first.confidences)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 40), k=st.integers(1, 4), seed=st.integers(0, 999))
def test_a_batch_equals_its_parts(folder: object, n: int, k: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, queries, means = unit_rows(random, 400), unit_rows(random, n), random.random(400, np.float32)
    index = opened(folder, rows)
    together = rank(index, means, queries, k, FALLBACK)
    for query in range(n):
        alone = rank(index, means, queries[query : query + 1], k, FALLBACK)
        assert alone.answers()[0] == together.answers()[query]


@settings(max_examples=30, deadline=None)
@given(k=st.integers(1, 10), seed=st.integers(0, 999))
def test_fewer_answers_are_the_first_of_more(folder: object, k: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    index, queries, means = (
        opened(folder, unit_rows(random, 50)),
        unit_rows(random, 2),
        random.random(50, np.float32),
    )
    few, more = rank(index, means, queries, k, FALLBACK), rank(index, means, queries, k + 5, FALLBACK)
    assert few.answers() == [answers[:k] for answers in more.answers()]


def test_ranking_the_top_100_by_cosine_finds_the_best_of_all(folder: object) -> None:
    """Recall of re-ranking: of 5,000 crowded rows the best by CSLS are among the candidates."""
    random = np.random.default_rng(0)
    rows = unit_rows(random, 5000, 32)
    queries = unit_rows(random, 5000, 32)
    queries[:300] = rows[:300] + 0.1 * random.standard_normal((300, 32)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    similarities = queries @ rows.T
    scores = csls(similarities)[:300]
    found = rank(opened(folder, rows), neighbourhood_means(similarities.T), queries[:300], 10, FALLBACK)
    best = np.argsort(-scores, axis=1)[:, :10]
    np.testing.assert_array_equal(found.rows[:, 0], best[:, 0])
    overlap = [len(set(a) & set(b)) / 10 for a, b in zip(found.rows.tolist(), best.tolist(), strict=True)]
    assert np.mean(overlap) > 0.99


def test_more_answers_than_candidates_are_given(folder: object) -> None:
    random = np.random.default_rng(1)
    found = rank(
        opened(folder, unit_rows(random, 300)), np.zeros(300, np.float32), unit_rows(random, 1), 250, FALLBACK
    )
    assert found.rows.shape == (1, 250)


def test_confidence_is_the_calibration_of_the_features(folder: object) -> None:
    random = np.random.default_rng(2)
    rows, queries, means = unit_rows(random, 40), unit_rows(random, 1), random.random(40, np.float32)
    calibration = Calibration(weights=(1.0, 2.0, 3.0, -0.2), bias=0.3, n=1)
    found = rank(opened(folder, rows), means, queries, 3, calibration)
    (scores,), (cosines,) = found.scores, found.cosines
    gaps = [scores[0] - scores[1], scores[1] - scores[0], scores[2] - scores[0]]
    np.testing.assert_allclose(
        found.confidences[0], calibration.probability(features(cosines, scores, gaps, 40)), rtol=1e-5
    )


def test_the_gap_of_the_first_does_not_depend_on_how_many_are_asked_for(folder: object) -> None:
    random = np.random.default_rng(3)
    index, queries, means = (
        opened(folder, unit_rows(random, 40)),
        unit_rows(random, 1),
        random.random(40, np.float32),
    )
    calibration = Calibration(weights=(0.0, 0.0, 5.0, 0.0), bias=0.0, n=1)
    one, two = (rank(index, means, queries, k, calibration).confidences[0, 0] for k in (1, 2))
    assert one == two > 0.5


def test_an_only_answer_has_no_gap(folder: object) -> None:
    random = np.random.default_rng(4)
    calibration = Calibration(weights=(0.0, 0.0, 5.0, 0.0), bias=0.0, n=1)
    found = rank(
        opened(folder, unit_rows(random, 1)), np.zeros(1, np.float32), unit_rows(random, 1), 3, calibration
    )
    assert found.confidences.tolist() == [[0.5]]


def test_the_query_side_mean_is_over_the_ten_nearest(folder: object) -> None:
    random = np.random.default_rng(5)
    rows, queries = unit_rows(random, 500), unit_rows(random, 1)
    found = rank(opened(folder, rows), np.zeros(500, np.float32), queries, 1, FALLBACK)
    nearest = np.sort((queries @ rows.T)[0])[::-1]
    assert found.scores[0, 0] == pytest.approx(2 * nearest[0] - nearest[:CSLS_NEIGHBOURS].mean(), abs=1e-5)
