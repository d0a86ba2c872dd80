"""The visual ridge regression against its equations, and on drawn pictures; trigrams."""

from pathlib import Path

import numpy as np
import pytest

from tests.training.papers.conftest import TINY
from training.papers.baselines import Ridge, measure_ridge, trigrams, weigh
from training.papers.measures import TRANSLATION_MEASURES


def test_the_regression_solves_its_normal_equations() -> None:
    """Two units in three sentences: x by hand, weights by least squares on an extended system."""
    sentences = [np.array([0]), np.array([1]), np.array([0, 0, 1])]
    targets = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    found = Ridge(sentences, 2, targets, documents=8, penalty=0.5)
    rarity = np.log(8 / 2)  # both are in two sentences
    mixed = np.array([(1 + np.log(2)) * rarity, rarity])
    x = np.array([[1, 0], [0, 1], mixed / np.linalg.norm(mixed)])
    extended = np.vstack([x, np.sqrt(0.5) * np.eye(2)])
    weights = np.linalg.lstsq(extended, np.vstack([targets, np.zeros((2, 4))]), rcond=None)[0]
    expected = x @ weights
    assert np.allclose(
        found.encode(sentences), expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-5
    )


def test_pictures_say_more_than_chance(scenes: Path) -> None:
    """200 sentences a language: R@10 by chance is 5."""
    found = measure_ridge(scenes, ["en", "zh"], TINY)
    assert set(found) == {*TRANSLATION_MEASURES, "scripts_csls_r1", "scripts_csls_r10", "positives"}
    assert 10 < found["csls_r10"] <= 100
    assert found["csls_r1"] <= found["csls_r5"] <= found["csls_r10"]


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
