"""The measures against definitions written out naively here, and against the laws that they must obey."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evaluation.measures.recall import (
    image_sentence_recall,
    positives_by_pair,
    recall_at,
    retrieved_positives,
    tied_share,
)
from index.errors import PassepartoutError
from tests.bundles import unit_rows

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(2, 40)


def naive_recall(similarities: NDArray[np.float32], k: int) -> float:
    found = 0
    for row, values in enumerate(similarities.tolist()):
        found += sum(value > values[row] for value in values) < k
    return 100 * found / len(similarities)


def naive_share(vectors: dict[str, NDArray[np.float32]], source: str, target: str) -> float:
    """Per cent of the sentences of `source` with their counterpart in `target` among the M - 1 nearest."""
    pool = [(code, i, row) for code, rows in vectors.items() for i, row in enumerate(rows)]
    found = 0
    for i, query in enumerate(vectors[source]):
        others = [(float(query @ row), code, j) for code, j, row in pool if (code, j) != (source, i)]
        top = sorted(others, key=lambda found: -found[0])[: len(vectors) - 1]
        found += any((code, j) == (target, i) for _, code, j in top)
    return 100 * found / len(vectors[source])


@given(seeds, sizes)
def test_recall_is_what_counting_gives(seed: int, n: int) -> None:
    similarities = unit_rows(seed, n, 8) @ unit_rows(seed + 1, n, 8).T
    assert recall_at(similarities, (1, 3, 10)) == {
        k: pytest.approx(naive_recall(similarities, k)) for k in (1, 3, 10)
    }


def test_ties_count_as_found_and_show_as_tied() -> None:
    similarities = np.array([[0.5, 0.5, 0.1], [0.9, 0.2, 0.2], [0.0, 0.0, 1.0]])
    assert recall_at(similarities, (1, 2)) == {1: pytest.approx(200 / 3), 2: 100}
    assert tied_share(similarities) == pytest.approx(200 / 3)
    assert tied_share(np.ones((5, 5))) == 100
    assert tied_share(np.eye(5)) == 0


@pytest.mark.parametrize("measure", [recall_at, tied_share])
def test_broken_vectors_never_pass_for_good_ones(measure: object) -> None:
    assert callable(measure)
    for value in (np.nan, np.inf, -np.inf):
        similarities = np.eye(4)
        similarities[2, 2] = value
        with pytest.raises(PassepartoutError, match="not finite"):
            measure(similarities)


def test_further_candidates_are_never_right() -> None:
    assert recall_at(np.array([[0.5, 0.1, 0.9], [0.2, 0.8, 0.3]]), (1, 2)) == {1: 50, 2: 100}


@given(seeds)
def test_positives_by_pair_are_what_sorting_the_pool_gives(seed: int) -> None:
    shared = unit_rows(seed, 8, 6)
    vectors = {f"l{i}": shared + 0.8 * unit_rows(seed + 1 + i, 8, 6) for i in range(3)}
    shares = {pair: naive_share(vectors, *pair) for pair in permutations(vectors, 2)}
    assert positives_by_pair(vectors) == pytest.approx(shares)
    assert retrieved_positives(vectors) == pytest.approx(np.mean(list(shares.values())))


def test_an_image_finds_its_sentences_when_it_finds_one() -> None:
    images = np.eye(3, dtype=np.float32)
    # Sentences 0 and 1 are of image 0: one right, one misled to image 1; the others are right.
    sentences = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32)
    picture = np.array([0, 0, 1, 2])
    assert image_sentence_recall(images, sentences, picture, ks=(1,)) == pytest.approx(100 * 3 / 4 + 100)
    with pytest.raises(ValueError, match="each of 3 images"):
        image_sentence_recall(images, sentences, np.array([0, 0, 1, 1]))
