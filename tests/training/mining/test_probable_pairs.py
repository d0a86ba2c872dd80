import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from index.arrays import unit
from index.vectors.faiss import FLAT_ROWS
from training.mining.probable_pairs import Sentences, halves_to_join, joined, probable_pairs

TokenIds = NDArray[np.int32]
TOKENS, WIDTH, LENGTH = 3000, 64, 8


def sentences(count: int, seed: int) -> list[TokenIds]:
    draw = np.random.default_rng(seed)
    return [draw.integers(TOKENS, size=draw.integers(4, LENGTH + 1)).astype(np.int32) for _ in range(count)]


def embedded(rows: list[TokenIds], noise: float, seed: int) -> NDArray[np.float32]:
    """The means of the vectors of their tokens, which are the same in all languages up to noise."""
    table = np.random.default_rng(9).normal(size=(TOKENS, WIDTH))
    table = table + noise * np.random.default_rng(seed).normal(size=table.shape)
    return unit(np.stack([table[row].mean(axis=0) for row in rows]).astype(np.float32))


def artificial(rows: list[TokenIds], share: float, seed: int) -> list[TokenIds]:
    return joined(rows, halves_to_join(list(map(len, rows)), share, np.random.default_rng(seed)))


def both(ours: list[TokenIds], theirs: list[TokenIds], noise: float) -> tuple[Sentences, Sentences]:
    searched = [*ours, *artificial(ours, 0.5, 5)]
    first = Sentences(embedded(searched, noise, 1), list(map(len, searched)), len(ours), 0)
    return first, Sentences(embedded(theirs, noise, 2), list(map(len, theirs)), len(theirs), 0)


@pytest.mark.parametrize(
    ("count", "noise", "found"), [(2000, 0.5, 0.9), (FLAT_ROWS + 500, 0.3, 0.8)], ids=["flat", "by lists"]
)
def test_translations_are_found_and_are_probable(count: int, noise: float, found: float) -> None:
    rows = sentences(count, 0)
    pairs, probabilities = probable_pairs(*both(rows, rows[::-1], noise), k=10)
    right = pairs[:, 0] == count - 1 - pairs[:, 1]
    assert right.sum() > found * count
    assert probabilities[right].mean() > 0.95


def test_a_probability_is_the_share_that_is_right() -> None:
    """Half of the sentences have a translation, which noise often hides."""
    rows = sentences(4000, 0)
    pairs, probabilities = probable_pairs(*both(rows, [*rows[:2000], *sentences(2000, 3)], 1.0), k=10)
    right = pairs[:, 0] == pairs[:, 1]
    for low, high in ((0.2, 0.8), (0.8, 1.01)):
        chosen = (probabilities >= low) & (probabilities < high)
        assert chosen.sum() > 30
        assert probabilities[chosen].mean() == pytest.approx(right[chosen].mean(), abs=0.2)


@given(st.lists(st.integers(1, 30), min_size=2, max_size=60), st.floats(0.1, 1), st.integers(0, 99))
def test_artificial_sentences_are_made_of_two_sentences_of_similar_length(
    lengths: list[int], share: float, seed: int
) -> None:
    """Each sentence's tokens are its number."""
    rows = [np.full(length, number, np.int32) for number, length in enumerate(lengths)]
    made = artificial(rows, share, seed)
    assert len(made) == round(share * len(rows))
    for row in made:
        assert len(set(row.tolist())) <= 2
        assert min(lengths) / 2 <= len(row) <= max(lengths) + 1
        if len(row) > 1 and min(lengths) > 1:
            assert len(set(row.tolist())) == 2


@pytest.mark.parametrize("count", [0, 1])
def test_there_are_none_of_hardly_any_sentences(count: int) -> None:
    assert artificial(sentences(count, 0), 0.5, 0) == []
