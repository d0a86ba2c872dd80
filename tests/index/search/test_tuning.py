"""Tuning: brute force by blocks is brute force, and a build reads as little as it may."""

from pathlib import Path

import numpy as np
import pytest

from index.search.inverted import InvertedIndex
from index.search.structure import AIM, Structure, choose
from index.search.tuning import MOST_CANDIDATES, STEP, STRIDE, foreign_queries, nearest, recall, tune
from index.search.vectors import open_vectors, write_vectors
from tests.index.search.test_exact import unit_rows

SPARSE = Structure(kind="ivf", lists=64, probes=1, candidates=20)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> InvertedIndex:
    rows = unit_rows(np.random.default_rng(0), 4000, 24, clusters=400)
    path = tmp_path_factory.mktemp("tuning") / "x.faiss"
    write_vectors(path, rows, choose(len(rows), "ivf"))
    return InvertedIndex.open(path, *rows.shape, structure=choose(len(rows), "ivf"))


def test_blocks_of_rows_are_all_rows(tmp_path: Path) -> None:
    rows = unit_rows(np.random.default_rng(1), STRIDE + 700, 4)
    write_vectors(tmp_path / "x.faiss", rows)
    found = nearest(open_vectors(tmp_path / "x.faiss", *rows.shape), rows[-5:], 3)
    wanted = np.argsort(-rows[-5:] @ rows.T, axis=1)[:, :3]
    assert recall(found, wanted) == 1
    np.testing.assert_array_equal(found[:, 0], np.arange(STRIDE + 695, STRIDE + 700))


def test_recall_counts_rows_whatever_their_order() -> None:
    assert recall(np.array([[1, 2, 3]]), np.array([[3, 1, 9]])) == pytest.approx(2 / 3)


@pytest.mark.parametrize("least", [0.5, 0.9, 0.99])
def test_the_least_that_suffices_is_chosen(index: InvertedIndex, least: float) -> None:
    queries = unit_rows(np.random.default_rng(2), 100, 24)
    wanted = nearest(index, queries)
    found = tune(index, choose(4000, "ivf"), queries, least)
    assert found.recall is not None
    assert found.recall >= least
    assert found.recall == recall(index.search(queries, 10)[1], wanted)
    assert found.reach is not None
    for fewer in ({"candidates": found.candidates - STEP}, {"reach": 0.4 * found.reach}):
        index.use(found.model_copy(update=fewer))
        if found.candidates > STEP or "reach" in fewer:
            assert recall(index.search(queries, 10)[1], wanted) < least


def test_all_lists_are_read_by_pq(index: InvertedIndex) -> None:
    queries = unit_rows(np.random.default_rng(2), 100, 24)
    found = tune(index, choose(4000, "pq"), queries)
    assert (found.probes, found.reach) == (64, None)
    assert found.recall is not None
    assert found.recall >= AIM
    assert found.candidates < MOST_CANDIDATES


def test_where_nothing_suffices_the_recall_says_so(index: InvertedIndex) -> None:
    queries = unit_rows(np.random.default_rng(3), 20, 24)
    found = tune(index, SPARSE, queries, least=1.1)
    assert (found.probes, found.candidates) == (64, 3200)
    assert found.recall is not None
    assert found.recall > 0.99


def test_sentences_of_other_languages_are_asked(tmp_path: Path) -> None:
    opened = {}
    for seed, code in enumerate(("de", "en", "pt")):
        rows = unit_rows(np.random.default_rng(seed), 200 + seed, 8)
        write_vectors(tmp_path / f"{code}.faiss", rows)
        opened[code] = open_vectors(tmp_path / f"{code}.faiss", *rows.shape)
    queries = foreign_queries(opened, "de")
    assert len(queries) == 256
    own = {row.tobytes() for row in opened["de"].vectors()}
    assert not own & {row.tobytes() for row in queries}
    assert len(foreign_queries({"de": opened["de"]}, "de")) == 200
