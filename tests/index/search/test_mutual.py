"""Neighbourhood means of two languages at once: those that each has alone."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.build import structures
from index.build.job import Job
from index.build.structures import write_neighbourhoods
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.search import mutual
from index.search.exact import ExactIndex, write_exact
from index.search.mutual import SCREEN_ROWS, Highest, mutual_means
from index.search.vectors import write_vectors
from tests.index.search.test_exact import Vectors, unit_rows

LARGE, LARGER = SCREEN_ROWS + 300, 2 * SCREEN_ROWS + 700  # the latter more than a tile


def opened(path: Path, rows: Vectors) -> ExactIndex:
    write_exact(path, rows)
    return ExactIndex.open(path, *rows.shape)


@pytest.mark.parametrize("sizes", [(LARGE, LARGER), (LARGER, LARGE)])
def test_both_ways_at_once_are_each_way_alone(tmp_path: Path, sizes: tuple[int, int]) -> None:
    random = np.random.default_rng(0)
    every = unit_rows(random, sum(sizes), 32, clusters=300)
    first, second = (
        opened(tmp_path / f"{name}.faiss", rows)
        for name, rows in (("a", every[: sizes[0]]), ("b", every[sizes[0] :]))
    )
    done: list[int] = []
    found = mutual_means(first, second, 10, 1, done.append)
    for means, own, other in ((found[0], first, second), (found[1], second, first)):
        np.testing.assert_allclose(means, other.neighbourhood_means(own.vectors(), 10), atol=1e-6)
    assert sum(done) == sum(sizes)
    again = mutual_means(first, second, 10, 3, done.append)
    np.testing.assert_array_equal(np.concatenate(again), np.concatenate(found))


@pytest.mark.parametrize("same", [(False, True), (True, False), (True, True)])
def test_rows_that_are_all_equal_are_not_all_kept(tmp_path: Path, same: tuple[bool, bool]) -> None:
    """An encoder may know no token of a language."""
    random = np.random.default_rng(1)
    first, second = (
        opened(
            tmp_path / f"{number}.faiss",
            np.tile(unit_rows(random, 1, 8), (LARGE, 1)) if equal else unit_rows(random, LARGE, 8),
        )
        for number, equal in enumerate(same)
    )
    found = mutual_means(first, second, 10, 1, lambda count: None)
    np.testing.assert_allclose(found[0], second.neighbourhood_means(first.vectors(), 10), atol=1e-6)
    np.testing.assert_allclose(found[1], first.neighbourhood_means(second.vectors(), 10), atol=1e-6)


@given(st.integers(1, 4), st.integers(0, 999), st.integers(1, 6))
def test_the_highest_products_of_each_owner_stay(wanted: int, seed: int, parts: int) -> None:
    random = np.random.default_rng(seed)
    owners, count = 5, 4 * parts
    table = random.integers(-50, 50, (owners, count)).astype(np.int32)
    found = Highest(np.full(owners, -51, np.int32), wanted)
    for others in np.split(random.permutation(count).astype(np.int32), parts):
        rows, columns = (values.ravel() for values in np.meshgrid(np.arange(owners), others))
        exceeding = table[rows, columns] > found.least[rows]
        rows, columns = rows[exceeding].astype(np.int32), columns[exceeding].astype(np.int32)
        found.add((rows, columns, table[rows, columns]))
        if random.random() < 0.5:
            found.settle()
    for own, others in zip(table, found.others(), strict=True):
        assert len(set(others.tolist())) == wanted
        assert sorted(own[others].tolist()) == sorted(own.tolist())[-wanted:]


def test_a_build_finds_each_pair_once_and_keeps_what_it_found(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutual, "SCREEN_ROWS", 400)
    encoder, random = TextEncoder(bundle), np.random.default_rng(2)
    sizes = {"de": 500, "en": 600, "fr": 30}
    rows = {code: unit_rows(random, size, encoder.dimension) for code, size in sizes.items()}
    asked: list[set[int]] = []

    def counted(first: ExactIndex, second: ExactIndex, *given: object) -> tuple[Vectors, Vectors]:
        asked.append({first.count, second.count})
        return mutual_means(first, second, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(structures, "mutual_means", counted)
    job = Job(tmp_path / "work", tmp_path / "parts", bundle, encoder)
    for folder in (job.work, job.parts):
        folder.mkdir()
    for code, vectors in rows.items():
        write_vectors(job.path(f"{code}.faiss"), vectors)
    for _ in range(2):
        write_neighbourhoods(job, "", sizes, "sentences")
        found = np.load(job.path("en.hubness.npy"))
        for column, code in enumerate(("de", "fr")):
            alone = opened(tmp_path / "x.faiss", rows[code]).neighbourhood_means(rows["en"], 10)
            np.testing.assert_allclose(found[:, column], alone, atol=1e-6)
        job.path("en.hubness.npy").unlink()
    assert asked == [{500, 600}]
