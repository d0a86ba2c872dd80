"""Multi-pairwise Procrustes: orthogonal always, helpful where spaces are turned, else harmless."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evaluation.measures.procrustes import (
    Alignment,
    align,
    anchor_products,
    find_anchors,
    mutual_neighbours,
    solve,
)
from index.vectors.neighbourhoods import csls

Space = NDArray[np.float64]


def unit(rows: Space) -> Space:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def concepts(
    random: np.random.Generator, count: int, dimension: int, languages: tuple[str, ...], noise: float
) -> dict[str, Space]:
    """Row i of every language is the same concept, `noise` apart."""
    centres = random.standard_normal((count, dimension))
    return {code: unit(centres + noise * random.standard_normal((count, dimension))) for code in languages}


def turn(random: np.random.Generator, dimension: int, angle: float) -> Space:
    """A random rotation; `angle` is about how far (radians) it turns a vector."""
    skew = random.standard_normal((dimension, dimension))
    skew = (skew - skew.T) / np.sqrt(2 * dimension)
    values, vectors = np.linalg.eig(angle * skew)
    return np.asarray((vectors * np.exp(values)) @ np.linalg.inv(vectors)).real


def accuracy(spaces: dict[str, Space], alignment: Alignment | None = None) -> float:
    """Mean share of words whose nearest by CSLS is their translation, over ordered pairs."""
    aligned = {code: rows @ alignment.rotations[code] if alignment else rows for code, rows in spaces.items()}
    found = [
        np.mean(csls(aligned[a] @ aligned[b].T).argmax(axis=1) == np.arange(len(aligned[a])))
        for a in aligned
        for b in aligned
        if a != b
    ]
    return float(np.mean(found))


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 40), min_size=1, max_size=4),
    dimension=st.integers(2, 24),
    pull=st.sampled_from([0.25, 1.0, 16.0, np.inf]),
    seed=st.integers(0, 2**16),
)
def test_rotations_are_orthogonal_whatever_the_words(
    sizes: list[int], dimension: int, pull: float, seed: int
) -> None:
    random = np.random.default_rng(seed)
    spaces = {f"l{i}": unit(random.standard_normal((size, dimension))) for i, size in enumerate(sizes)}
    alignment = align(spaces, pulls=(pull,))
    assert alignment.rotations.keys() == spaces.keys()
    for rotation in alignment.rotations.values():
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(dimension), atol=1e-5)


def test_turned_spaces_are_brought_together() -> None:
    random = np.random.default_rng(1)
    spaces = concepts(random, 400, 32, ("en", "de", "zh"), noise=0.4)
    spaces["de"] = spaces["de"] @ turn(random, 32, 0.9)
    spaces["zh"] = spaces["zh"] @ turn(random, 32, 0.9)
    before = accuracy(spaces)
    alignment = align(spaces)
    assert np.isfinite(alignment.pull)
    assert before < 0.8
    assert accuracy(spaces, alignment) > 0.95


def test_the_right_rotation_is_found() -> None:
    random = np.random.default_rng(2)
    spaces = concepts(random, 800, 16, ("en", "de"), noise=0.1)
    rotation = turn(random, 16, 0.5)
    spaces["de"] = spaces["de"] @ rotation
    found = align(spaces, k=1)
    # Only the difference between the two languages is determined, not where they meet.
    between = found.rotations["en"] @ found.rotations["de"].T
    np.testing.assert_allclose(between, rotation, atol=0.05)


@pytest.mark.parametrize("noise", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("count", [10, 60, 400])
def test_aligned_spaces_are_not_harmed(count: int, noise: float) -> None:
    random = np.random.default_rng(count)
    spaces = concepts(random, count, 64, ("en", "de", "zh"), noise)
    assert accuracy(spaces, align(spaces)) >= accuracy(spaces) - 0.01


def test_without_a_choice_of_pull_aligned_spaces_would_be_harmed() -> None:
    """What the choice protects from: far fewer anchors than parameters, followed without restraint."""
    random = np.random.default_rng(3)
    spaces = concepts(random, 60, 64, ("en", "de", "zh"), noise=1.2)
    followed = accuracy(spaces, align(spaces, pulls=(1e-6,), iterations=3))
    chosen = accuracy(spaces, align(spaces))
    assert chosen >= accuracy(spaces) - 0.01
    assert followed < chosen


def test_noise_is_left_alone() -> None:
    random = np.random.default_rng(4)
    spaces = {code: unit(random.standard_normal((300, 32))) for code in ("en", "de", "zh")}
    alignment = align(spaces)
    for rotation in alignment.rotations.values():
        moved = np.linalg.norm(rotation - np.eye(32)) / np.sqrt(32)
        assert moved < 0.2


def test_a_language_without_anchors_keeps_the_identity() -> None:
    random = np.random.default_rng(5)
    spaces = concepts(random, 200, 16, ("en", "de"), noise=0.2)
    spaces["de"] = spaces["de"] @ turn(random, 16, 0.5)
    spaces["xx"] = np.zeros((0, 16))
    alignment = align(spaces)
    assert np.isfinite(alignment.pull)
    np.testing.assert_array_equal(alignment.rotations["xx"], np.eye(16, dtype=np.float32))
    assert alignment.anchors["en", "xx"] == 0


@pytest.mark.parametrize("sizes", [{}, {"en": 3}, {"en": 0, "de": 0}, {"en": 1, "de": 1}])
def test_too_few_words_give_identities(sizes: dict[str, int]) -> None:
    spaces = {code: unit(np.ones((size, 8))) for code, size in sizes.items()}
    alignment = align(spaces)
    assert alignment.converged
    for rotation in alignment.rotations.values():
        np.testing.assert_array_equal(rotation, np.eye(8, dtype=np.float32))


def test_it_converges_and_says_so() -> None:
    random = np.random.default_rng(6)
    spaces = concepts(random, 400, 16, ("en", "de", "zh"), noise=0.2)
    spaces["de"] = spaces["de"] @ turn(random, 16, 0.5)
    alignment = align(spaces)
    assert alignment.converged
    assert 1 <= alignment.iterations <= 20
    assert not align(spaces, iterations=1, pulls=(1.0,)).converged


def test_identical_spellings_get_no_special_treatment() -> None:
    """Words are only vectors here: naming the same rows differently changes nothing."""
    random = np.random.default_rng(7)
    spaces = concepts(random, 100, 16, ("en", "de"), noise=0.3)
    order = random.permutation(100)
    shuffled = {"en": spaces["en"], "de": spaces["de"][order]}
    first, second = align(spaces, pulls=(1.0,)), align(shuffled, pulls=(1.0,))
    np.testing.assert_allclose(first.rotations["de"], second.rotations["de"], atol=1e-4)


def test_only_the_most_frequent_words_take_part() -> None:
    random = np.random.default_rng(8)
    spaces = concepts(random, 100, 16, ("en", "de"), noise=0.3)
    longer = {
        code: np.concatenate([rows, unit(random.standard_normal((50, 16)))]) for code, rows in spaces.items()
    }
    first, second = align(spaces, pulls=(1.0,)), align(longer, pulls=(1.0,), most_words=100)
    np.testing.assert_array_equal(first.rotations["en"], second.rotations["en"])


@settings(max_examples=40, deadline=None)
@given(n=st.integers(0, 30), m=st.integers(0, 30), k=st.integers(1, 6), seed=st.integers(0, 2**16))
def test_anchors_are_mutual_neighbours(n: int, m: int, k: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    first, second = unit(random.standard_normal((n, 6))), unit(random.standard_normal((m, 6)))
    pairs = mutual_neighbours(first, second, k)
    scores = csls((first @ second.T).astype(np.float32))
    wanted = [
        (x, y)
        for x in range(n)
        for y in range(m)
        if (scores[x] > scores[x, y]).sum() < k and (scores[:, y] > scores[x, y]).sum() < k
    ]
    assert [tuple(pair) for pair in pairs.tolist()] == wanted


@settings(max_examples=15, deadline=None)
@given(n=st.integers(50, 200), m=st.integers(90, 200), k=st.integers(1, 6), seed=st.integers(0, 2**16))
def test_anchors_among_many_words_are_those_of_whole_rows(n: int, m: int, k: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    first, second = unit(random.standard_normal((n, 6))), unit(random.standard_normal((m, 6)))
    scores = csls((first @ second.T).astype(np.float32))
    ahead = scores >= np.sort(scores, axis=1)[:, -k:][:, :1]
    back = scores >= np.sort(scores, axis=0)[-k:][:1]
    # Scores apart by rounding alone may come in either order.
    found = {tuple(pair) for pair in mutual_neighbours(first, second, k).tolist()}
    assert len(found ^ set(zip(*np.nonzero(ahead & back), strict=True))) <= 1


def test_anchors_do_not_depend_on_the_number_of_threads() -> None:
    random = np.random.default_rng(10)
    spaces = concepts(random, 150, 16, ("en", "de", "zh", "pt"), noise=0.6)
    one, three = find_anchors(spaces, 5, threads=1), find_anchors(spaces, 5, threads=3)
    assert list(one) == list(three)
    for pair in one:
        np.testing.assert_array_equal(one[pair], three[pair])


def test_products_are_sums_over_anchors() -> None:
    random = np.random.default_rng(11)
    spaces = concepts(random, 60, 8, ("en", "de"), noise=0.8)
    anchors = {("en", "de"): mutual_neighbours(spaces["en"], spaces["de"], 5)}
    first, second = anchors["en", "de"].T
    wanted = spaces["en"][first].T @ spaces["de"][second]
    assert len(first) > len(set(first))
    np.testing.assert_allclose(anchor_products(spaces, anchors)["en", "de"], wanted, rtol=1e-5, atol=1e-5)


def test_solving_lowers_the_distance_between_anchors() -> None:
    random = np.random.default_rng(9)
    spaces = concepts(random, 200, 12, ("en", "de", "zh"), noise=0.3)
    spaces["zh"] = spaces["zh"] @ turn(random, 12, 0.8)
    anchors = {
        pair: np.column_stack([np.arange(200), np.arange(200)])
        for pair in [("en", "de"), ("en", "zh"), ("de", "zh")]
    }
    start = {code: np.eye(12) for code in spaces}
    solved = solve(anchor_products(spaces, anchors), start, pull=0.01)

    def distance(rotations: dict[str, Space]) -> float:
        return sum(
            float(np.square(spaces[a] @ rotations[a] - spaces[b] @ rotations[b]).sum()) for a, b in anchors
        )

    assert distance(solved) < 0.5 * distance(start)


def test_what_is_stored_is_orthogonal_within_a_hundred_thousandth() -> None:
    random = np.random.default_rng(9)
    spaces = concepts(random, 300, 64, ("a", "b", "c"), 0.3)
    spaces["b"] = spaces["b"] @ turn(random, 64, 0.5)
    found = align(spaces, pulls=(1.0,))
    exact = [np.asarray(r, np.float64) for r in found.rotations.values()]
    assert found.orthogonality == max(np.abs(r.T @ r - np.eye(64)).max() for r in exact)
    assert 0 < found.orthogonality < 1e-5
    assert found.converged
