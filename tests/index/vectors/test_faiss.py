"""FaissIndex: every kind of index that the ladder makes finds what brute force finds, from a mapped file."""

import re
from pathlib import Path

import faiss
import numpy as np
import pytest
from numpy.typing import NDArray

from index.arrays import unit
from index.errors import DamagedError, UsageError
from index.storage.index_manifest import SearchSettings
from index.vectors.faiss import FLAT_ROWS, SCAN_ROWS, FaissIndex, check_factory, factory_string, write_faiss
from index.vectors.tuning import (
    COMPARED_ROWS,
    RECALL_NEIGHBOURS,
    TARGET_RECALL,
    foreign_queries,
    nearest,
    recall,
    tune,
)
from index.vectors.vector_index import CANDIDATE_COUNT
from tests.bundles import unit_rows

Vectors = NDArray[np.float32]
COUNT, DIMENSION = 3 * FLAT_ROWS, 32
FACTORIES = ("Flat", "PQ16x4fs,RFlat", "IVF64,PQ16x4fsr,Refine(SQfp16)")


def made(folder: Path, rows: Vectors, factory: str = "Flat") -> FaissIndex:
    write_faiss(folder / "x.faiss", rows, factory)
    return FaissIndex.open(folder / "x.faiss", *rows.shape, SearchSettings(factory=factory))


@pytest.fixture(scope="module")
def rows() -> Vectors:
    """Crowded as captions are."""
    random = np.random.default_rng(0)
    crowds = random.standard_normal((100, DIMENSION))[random.integers(100, size=COUNT)]
    return unit((crowds + 0.5 * random.standard_normal((COUNT, DIMENSION))).astype(np.float32))


@pytest.fixture(scope="module")
def queries(rows: Vectors) -> Vectors:
    near = rows[::60] + 0.05 * np.random.default_rng(1).standard_normal(rows[::60].shape).astype(np.float32)
    return unit(near)


@pytest.fixture(scope="module", params=FACTORIES)
def tuned(
    request: pytest.FixtureRequest, rows: Vectors, queries: Vectors, tmp_path_factory: pytest.TempPathFactory
) -> tuple[FaissIndex, SearchSettings]:
    index = made(tmp_path_factory.mktemp("index"), rows, request.param)
    asked = queries[:100]
    return index, tune(index, SearchSettings(factory=request.param), asked, nearest(rows, asked))


@pytest.fixture
def index(tuned: tuple[FaissIndex, SearchSettings]) -> FaissIndex:
    return tuned[0]


def test_the_nearest_are_found_with_their_cosines(index: FaissIndex, rows: Vectors, queries: Vectors) -> None:
    similarities = queries @ rows.T
    cosines, neighbours = index.search(queries, CANDIDATE_COUNT)
    exact = np.argsort(-similarities, axis=1)
    assert recall(neighbours[:, :RECALL_NEIGHBOURS], exact[:, :RECALL_NEIGHBOURS]) >= 0.99
    assert recall(neighbours, exact[:, :CANDIDATE_COUNT]) >= 0.95
    np.testing.assert_allclose(cosines, np.take_along_axis(similarities, neighbours, axis=1), atol=1e-3)
    assert (np.diff(cosines, axis=1) <= 0).all()


def test_a_batch_equals_its_parts(index: FaissIndex, queries: Vectors) -> None:
    cosines, neighbours = index.search(queries, 20)
    for number in range(0, len(queries), 7):
        alone = index.search(queries[number : number + 1], 20)
        np.testing.assert_array_equal(alone[1][0], neighbours[number])
        np.testing.assert_array_equal(alone[0][0], cosines[number])


@pytest.mark.parametrize("k", [1, 300, COUNT - 1, COUNT + 1000])
def test_as_many_answers_as_asked_for(index: FaissIndex, queries: Vectors, k: int) -> None:
    cosines, neighbours = index.search(queries[:3], k)
    assert neighbours.shape == cosines.shape == (3, min(k, COUNT))
    assert all(len(set(row)) == len(row) for row in neighbours.tolist())
    assert index.search(queries[:0], k)[0].shape[0] == 0


def test_rows_are_read_back(index: FaissIndex, rows: Vectors) -> None:
    np.testing.assert_allclose(index.reconstruct([7, 3, COUNT - 1]), rows[[7, 3, COUNT - 1]], atol=1e-3)
    assert index.reconstruct([]).shape == (0, DIMENSION)
    assert len(index) == COUNT


@pytest.mark.parametrize("factory", FACTORIES)
def test_what_is_read_back_is_written_to_the_same_file(rows: Vectors, tmp_path: Path, factory: str) -> None:
    first = made(tmp_path, rows, factory)
    content = (tmp_path / "x.faiss").read_bytes()
    write_faiss(tmp_path / "again.faiss", rows, factory)
    assert (tmp_path / "again.faiss").read_bytes() == content
    kept = first.reconstruct(range(COUNT))
    np.testing.assert_array_equal(made(tmp_path, kept, factory).reconstruct(range(COUNT)), kept)


def test_ties_go_to_the_lower_row(tmp_path: Path) -> None:
    rows = np.tile(unit_rows(0, 1, 8), (5, 1))
    assert made(tmp_path, rows).search(rows[:1], 5)[1].tolist() == [[0, 1, 2, 3, 4]]


def test_an_empty_index_has_no_answers(tmp_path: Path) -> None:
    index = made(tmp_path, np.zeros((0, 8), np.float32))
    assert index.search(np.ones((2, 8), np.float32), 5)[1].shape == (2, 0)


def test_an_odd_number_of_dimensions(tmp_path: Path) -> None:
    rows = unit_rows(2, FLAT_ROWS + 1, 7)
    index = made(tmp_path, rows, factory_string(*rows.shape))
    np.testing.assert_array_equal(index.search(rows[:50], CANDIDATE_COUNT)[1][:, 0], np.arange(50))


@pytest.mark.parametrize(
    ("count", "factory"),
    [
        (10, "Flat"),
        (FLAT_ROWS, "Flat"),
        (FLAT_ROWS + 1, "PQ64x4fs,RFlat"),
        (SCAN_ROWS, "PQ64x4fs,RFlat"),
        (1_000_000, "IVF512,PQ128x4fsr,Refine(SQfp16)"),
        (SCAN_ROWS + 1, "IVF256,PQ128x4fsr,Refine(SQfp16)"),
        (10_000_000, "IVF2048,PQ128x4fsr,Refine(SQfp16)"),
    ],
)
def test_the_factory_follows_the_number_of_rows(count: int, factory: str) -> None:
    assert factory_string(count, 256) == factory
    check_factory(factory)


def test_the_settings_find_what_they_say(
    tuned: tuple[FaissIndex, SearchSettings], rows: Vectors, queries: Vectors
) -> None:
    index, chosen = tuned
    if chosen.factory == "Flat":
        assert chosen == SearchSettings()
        return
    measured = recall(
        index.search(queries[:100], CANDIDATE_COUNT)[1][:, :RECALL_NEIGHBOURS], nearest(rows, queries[:100])
    )
    assert chosen.recall == measured >= TARGET_RECALL
    assert re.fullmatch(r"(nprobe=\d+,)?k_factor_rf=\d+", chosen.parameters)


def test_no_more_lists_are_read_than_needed(rows: Vectors, tmp_path: Path) -> None:
    queries = unit_rows(2, 200, DIMENSION)  # which lie near no cluster
    index = made(tmp_path, rows, FACTORIES[2])
    wanted = nearest(rows, queries)
    chosen = tune(index, SearchSettings(factory=FACTORIES[2]), queries, wanted)
    assert 1 < int(chosen.parameters.split(",")[0].removeprefix("nprobe=")) < 64
    index.use_least()
    assert recall(index.search(queries, CANDIDATE_COUNT)[1][:, :RECALL_NEIGHBOURS], wanted) < TARGET_RECALL


def test_brute_force_by_blocks_is_brute_force() -> None:
    rows = unit_rows(1, COMPARED_ROWS + 700, 4)
    assert recall(nearest(rows, rows[-5:], 3), np.argsort(-rows[-5:] @ rows.T, axis=1)[:, :3]) == 1


def test_sentences_of_other_languages_are_asked(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    spaces = {code: unit_rows(random, 200, 8) for code in ("de", "en", "pt")}
    indexes = {}
    for code, rows in spaces.items():
        (tmp_path / code).mkdir()
        indexes[code] = made(tmp_path / code, rows)
    queries = foreign_queries(indexes, "de")
    assert len(queries) == 256
    assert not {row.tobytes() for row in spaces["de"]} & {row.tobytes() for row in queries}
    assert len(foreign_queries({"de": indexes["de"]}, "de")) == 200


@pytest.mark.parametrize("factory", ["IVF64,Flat", "PQ16x4fs", "HNSW32", "RFlat"])
def test_a_factory_that_keeps_no_vectors_is_refused(factory: str) -> None:
    with pytest.raises(UsageError, match="keeps no vectors to rank by: end it in ,RFlat"):
        check_factory(factory)


@pytest.mark.parametrize("factory", ["nonsense,RFlat", "PQ5x4fs,RFlat", "IVF500,Flat,RFlat"])
def test_a_factory_that_faiss_cannot_make_is_refused(tmp_path: Path, factory: str) -> None:
    with pytest.raises(UsageError, match="give another --factory"):
        write_faiss(tmp_path / "x.faiss", unit_rows(0, 300, 8), factory)


@pytest.mark.parametrize(("count", "dimension"), [(9, 8), (10, 4), (11, 8)])
def test_another_size_than_the_manifest_says_is_refused(tmp_path: Path, count: int, dimension: int) -> None:
    write_faiss(tmp_path / "x.faiss", unit_rows(0, 10, 8), "Flat")
    with pytest.raises(DamagedError, match=f"not {count} vectors of {dimension} dimensions"):
        FaissIndex.open(tmp_path / "x.faiss", count, dimension, SearchSettings())


def test_another_metric_is_refused(tmp_path: Path) -> None:
    flat = faiss.IndexFlatL2(8)
    flat.add(unit_rows(0, 10, 8))
    faiss.write_index(flat, str(tmp_path / "x.faiss"))
    with pytest.raises(DamagedError):
        FaissIndex.open(tmp_path / "x.faiss", 10, 8, SearchSettings())


def test_parameters_of_another_index_are_refused(tmp_path: Path) -> None:
    made(tmp_path, unit_rows(0, 10, 8))
    with pytest.raises(DamagedError, match="'nprobe=4' are not parameters of this index"):
        FaissIndex.open(tmp_path / "x.faiss", 10, 8, SearchSettings(parameters="nprobe=4"))


def test_what_is_no_index_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.faiss").write_bytes(b"nonsense" * 100)
    with pytest.raises(DamagedError, match="FAISS cannot read it"):
        FaissIndex.open(tmp_path / "x.faiss", 10, 8, SearchSettings())


def test_an_index_that_cannot_be_searched_is_refused(tmp_path: Path) -> None:
    index = faiss.IndexRefineFlat(faiss.IndexFlatIP(8))
    index.metric_type = faiss.METRIC_INNER_PRODUCT
    index.add(unit_rows(0, 10, 8))
    index.own_refine_index = False
    index.refine_index = faiss.IndexFlatIP(9)
    faiss.write_index(index, str(tmp_path / "x.faiss"))
    with pytest.raises(DamagedError, match="FAISS cannot search it"):
        FaissIndex.open(tmp_path / "x.faiss", 10, 8, SearchSettings())


@pytest.mark.parametrize("factory", FACTORIES)
def test_the_file_is_memory_mapped_and_released(rows: Vectors, tmp_path: Path, factory: str) -> None:
    index = made(tmp_path, rows, factory)
    assert str(tmp_path / "x.faiss") in Path("/proc/self/maps").read_text()
    assert len(index) == COUNT
    del index
    assert str(tmp_path / "x.faiss") not in Path("/proc/self/maps").read_text()
