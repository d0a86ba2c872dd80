"""Character trigrams, weighted by tf-idf."""

import numpy as np
import pytest

from training.papers.baselines import trigrams, weigh


def test_trigrams_of_a_sentence_reach_over_its_ends() -> None:
    assert sorted(trigrams("Aba  ab")) == [" ab", " ab", "a a", "ab ", "aba", "ba "]


def test_weights_by_hand() -> None:
    """Of four sentences; "xyz" is in one alone, so that nothing can be like it."""
    found = weigh({"en": ["ab", "xyz"], "de": ["ab", "ab cd cd"]})
    # " ab" and "ab " are in three of four each; trigrams of "cd" in one sentence.
    assert found["en"].shape == (2, 2)
    np.testing.assert_allclose(found["en"][0], [np.sqrt(0.5)] * 2, atol=1e-6)
    np.testing.assert_allclose(found["en"][1], 0)
    assert found["en"][0] @ found["de"][1] == pytest.approx(1)
