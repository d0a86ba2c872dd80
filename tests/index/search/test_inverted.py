"""InvertedIndex: codes in lists find what brute force finds, from files that are mapped and not read."""

import tracemalloc
from pathlib import Path

import faiss
import numpy as np
import pytest
from numpy.typing import NDArray

from index.errors import DamagedError
from index.search.hubness import neighbourhood_means
from index.search.inverted import InvertedIndex, _Quantizer, write_inverted
from index.search.structure import EXACT, EXTENSIONS, Structure, choose
from index.search.vector_index import VectorIndex
from index.search.vectors import open_vectors, write_vectors
from tests.index.search.test_exact import unit_rows

Vectors = NDArray[np.float32]
DIMENSION = 32


@pytest.fixture(scope="module")
def rows() -> Vectors:
    return unit_rows(np.random.default_rng(0), 4000, DIMENSION, clusters=100)


@pytest.fixture(scope="module")
def folder(rows: Vectors, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("inverted")
    write_vectors(made / "x.faiss", rows, choose(len(rows), "ivf"))
    return made


@pytest.fixture(scope="module", params=["pq", "ivf"])
def index(request: pytest.FixtureRequest, folder: Path, rows: Vectors) -> VectorIndex:
    return open_vectors(folder / "x.faiss", *rows.shape, structure=choose(len(rows), request.param))


@pytest.fixture(scope="module")
def queries(rows: Vectors) -> Vectors:
    near = rows[::40] + 0.05 * np.random.default_rng(1).standard_normal((100, DIMENSION)).astype(np.float32)
    found: Vectors = near / np.linalg.norm(near, axis=1, keepdims=True)
    return found


def recall(found: NDArray[np.int64], wanted: NDArray[np.int64]) -> float:
    pairs = zip(found.tolist(), wanted.tolist(), strict=True)
    return float(np.mean([len(set(one) & set(other)) / len(other) for one, other in pairs]))


def test_the_ten_nearest_are_found(index: VectorIndex, rows: Vectors, queries: Vectors) -> None:
    cosines, found = index.search(queries, 10)
    similarities = queries @ rows.T
    assert recall(found, np.argsort(-similarities, axis=1)[:, :10]) >= 0.98  # engineering.md C4, row 20
    np.testing.assert_allclose(cosines, np.take_along_axis(similarities, found, axis=1), atol=1e-3)
    assert (np.diff(cosines, axis=1) <= 0).all()


def test_a_batch_equals_its_parts(index: VectorIndex, queries: Vectors) -> None:
    cosines, found = index.search(queries, 20)
    for row in range(0, len(queries), 7):
        alone, rows_alone = index.search(queries[row : row + 1], 20)
        np.testing.assert_array_equal(rows_alone[0], found[row])
        np.testing.assert_array_equal(alone[0], cosines[row])


@pytest.mark.parametrize("k", [1, 300, 3999, 5000])
def test_as_many_answers_as_asked_for(index: VectorIndex, queries: Vectors, k: int) -> None:
    cosines, found = index.search(queries[:3], k)
    assert found.shape == cosines.shape == (3, min(k, 4000))
    assert all(len(set(row)) == len(row) for row in found.tolist())
    assert index.search(queries[:0], k)[0].shape[0] == 0


def test_rows_are_16_bit_and_stay_so_when_written_again(
    folder: Path, rows: Vectors, index: VectorIndex, tmp_path: Path
) -> None:
    kept = index.vectors()
    np.testing.assert_array_equal(kept, rows.astype(np.float16))
    np.testing.assert_array_equal(np.concatenate(list(index.blocks())), kept)
    np.testing.assert_array_equal(index.vectors(7, 5), kept[7:12])
    write_vectors(tmp_path / "x.faiss", kept, choose(len(kept), "ivf"))
    for extension in EXTENSIONS["ivf"]:
        assert (tmp_path / f"x.{extension}").read_bytes() == (folder / f"x.{extension}").read_bytes()


def test_the_lists_are_those_that_faiss_would_make(
    folder: Path, index: VectorIndex, queries: Vectors
) -> None:
    assert isinstance(index, InvertedIndex)
    own = faiss.read_index(str(folder / "x.faiss"))
    own.add(index.vectors())
    own.nprobe = index._index.nprobe
    for wanted, found in zip(own.search(queries, 50), index._index.search(queries, 50), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("lists", [1, 2, 300])
def test_rows_go_to_the_nearest_list(rows: Vectors, lists: int) -> None:
    centroids = unit_rows(np.random.default_rng(4), lists, DIMENSION)
    # Some nearly the same: integers do not tell them apart.
    centroids = np.concatenate([centroids, centroids + np.float32(1e-4) * centroids[::-1]])
    cosines = rows[:1000] @ centroids.T
    found = _Quantizer(centroids).lists(rows[:1000])
    assert (cosines[np.arange(1000), found] > cosines.max(axis=1) - 1e-6).all()


def test_of_equal_lists_the_first_is_taken(rows: Vectors) -> None:
    centroids = np.repeat(unit_rows(np.random.default_rng(4), 30, DIMENSION), 3, axis=0)
    assert set((_Quantizer(centroids).lists(rows[:500]) % 3).tolist()) == {0}


def test_neighbourhood_means_are_near_the_exact_ones(
    index: VectorIndex, rows: Vectors, queries: Vectors
) -> None:
    exact = neighbourhood_means(queries @ rows.T, 10)
    found = index.neighbourhood_means(queries, 10)
    assert np.corrcoef(exact, found)[0, 1] > 0.9
    assert np.abs(exact - found).max() < 0.1


def test_lists_and_vectors_are_mapped_and_let_go(folder: Path) -> None:
    def mapped() -> set[str]:
        lines = Path("/proc/self/maps").read_text().splitlines()
        return {line.split("/")[-1] for line in lines if str(folder) in line}

    (folder / "copy").mkdir()
    for extension in EXTENSIONS["pq"]:
        (folder / f"copy/y.{extension}").write_bytes((folder / f"x.{extension}").read_bytes())
    opened = open_vectors(folder / "copy/y.faiss", 4000, DIMENSION, structure=choose(4000, "pq"))
    assert {"y.lists", "y.vectors.npy"} <= mapped()
    del opened
    assert not {"y.lists", "y.vectors.npy"} & mapped()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.faiss", b"nonsense" * 100),
        ("x.lists", b"\0" * 5000),
        ("x.lists", b""),
        ("x.vectors.npy", b"nonsense" * 100),
    ],
)
def test_files_of_something_else_are_refused(folder: Path, tmp_path: Path, name: str, content: bytes) -> None:
    for extension in EXTENSIONS["ivf"]:
        (tmp_path / f"x.{extension}").write_bytes((folder / f"x.{extension}").read_bytes())
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DamagedError, match=f"{name}: .*build the index again"):
        open_vectors(tmp_path / "x.faiss", 4000, DIMENSION, structure=choose(4000, "ivf"))


@pytest.mark.parametrize(("count", "dimension"), [(3999, 32), (4000, 16)])
def test_another_size_than_the_manifest_says_is_refused(folder: Path, count: int, dimension: int) -> None:
    with pytest.raises(DamagedError, match="build the index again"):
        open_vectors(folder / "x.faiss", count, dimension, structure=choose(4000, "ivf"))


def test_an_exact_file_is_no_list_file(rows: Vectors, tmp_path: Path) -> None:
    write_vectors(tmp_path / "x.faiss", rows)
    with pytest.raises(DamagedError, match="not 64 lists of 32 dimensions"):
        open_vectors(tmp_path / "x.faiss", 4000, DIMENSION, structure=choose(4000, "ivf"))


@pytest.mark.parametrize(
    ("count", "kind"), [(10, "exact"), (100_000, "exact"), (100_001, "pq"), (150_000, "pq"), (150_001, "ivf")]
)
def test_the_structure_follows_the_size(count: int, kind: str) -> None:
    assert choose(count).kind == kind


def test_the_structure_can_be_asked_for() -> None:
    assert choose(1_000_000, "exact") == EXACT
    assert choose(1_000_000, "ivf") == Structure(kind="ivf", lists=1024, probes=128, candidates=200)
    assert choose(1_000, "pq").probes == choose(1_000, "pq").lists == 32
    assert choose(255, "ivf") == EXACT  # too few to train on


def test_an_odd_number_of_dimensions(tmp_path: Path) -> None:
    rows = unit_rows(np.random.default_rng(2), 600, 7)
    structure = choose(600, "pq")
    write_vectors(tmp_path / "x.faiss", rows, structure)
    found = open_vectors(tmp_path / "x.faiss", 600, 7, structure=structure).search(rows[:50], 1)[1]
    np.testing.assert_array_equal(found[:, 0], np.arange(50))


def test_writing_takes_no_more_memory_for_more_rows(tmp_path: Path) -> None:
    peaks = []
    for count in (1 << 17, 1 << 19):
        rows = np.memmap(tmp_path / "rows", np.float32, "w+", shape=(count, 4))
        for start in range(0, count, 1 << 14):
            block = np.random.default_rng(start).standard_normal((1 << 14, 4), np.float32)
            rows[start : start + (1 << 14)] = block / np.linalg.norm(block, axis=1, keepdims=True)
        tracemalloc.start()
        write_inverted(tmp_path / "en.faiss", rows, 64)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # Lists are four times as long, one in memory at a time.
    assert peaks[1] - peaks[0] < 1 << 20, peaks
