import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from index.arrays import unit
from index.vectors.neighbourhoods import csls
from tests.bundles import unit_rows
from training.mining.mutual import BLOCK, mine

Vectors = NDArray[np.float32]


def noisy(rows: Vectors, noise: float, seed: int) -> Vectors:
    return unit(rows + noise * unit_rows(seed, *rows.shape))


def by_hand(one: Vectors, other: Vectors, k: int) -> set[tuple[int, int]]:
    """Mutual best by CSLS over centred rows."""
    scores = csls(unit(one - one.mean(axis=0)) @ unit(other - other.mean(axis=0)).T, k)
    best, back = scores.argmax(axis=1), scores.argmax(axis=0)
    return {(i, int(j)) for i, j in enumerate(best) if back[j] == i}


def pairs(one: Vectors, other: Vectors, keep: float = 1.0, k: int = 5) -> set[tuple[int, int]]:
    found = mine({"de": one, "en": other}, keep=keep, neighbours=k, seed=0)
    assert list(found) == [("de", "en")]
    return {(int(i), int(j)) for i, j in found["de", "en"]}


@settings(deadline=None)
@given(st.integers(6, 60), st.integers(6, 60), st.integers(0, 1000))
def test_they_are_each_others_nearest(n: int, m: int, seed: int) -> None:
    one, other = unit_rows(seed, n, 16), unit_rows(seed + 1, m, 16)
    assert pairs(one, other) == by_hand(one, other, 5)


def test_more_than_a_block() -> None:
    one = unit_rows(0, BLOCK + 300, 16)
    other = noisy(one, 0.3, 1)[::-1]
    found = pairs(one, other)
    assert found == by_hand(one, other, 5)
    assert sum(j == len(one) - 1 - i for i, j in found) > 0.95 * len(one)


def test_the_surest_of_all_languages_are_kept() -> None:
    """German is near to English and far from Portuguese: nearly all that is kept is German and English."""
    one = unit_rows(0, 100, 16)
    rows = {"de": one, "en": noisy(one, 0.3, 1), "pt": noisy(one, 3, 2)}
    every, third = (mine(rows, keep=keep, neighbours=5, seed=0) for keep in (1, 1 / 3))
    assert list(third) == list(every)
    assert sum(map(len, third.values())) == round(sum(map(len, every.values())) / 3)
    assert len(third["de", "en"]) > 5 * len(third["de", "pt"])
    for key, pairs in third.items():
        assert {tuple(pair) for pair in pairs} <= {tuple(pair) for pair in every[key]}


def test_what_all_sentences_of_a_language_share_does_not_count() -> None:
    one = unit_rows(0, 80, 16)
    assert len({pair for pair in pairs(one, unit(one + 3 * unit_rows(9, 1, 16))) if pair[0] == pair[1]}) > 70


@pytest.mark.parametrize("n", [1, 2])
def test_hardly_any_sentences(n: int) -> None:
    assert len(pairs(unit_rows(0, n, 16), unit_rows(1, 30, 16))) <= n
