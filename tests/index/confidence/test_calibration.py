"""Confidence: a logistic regression that is right about how often it is right."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import ValidationError

from index.confidence.calibration import (
    FALLBACK,
    WORDS_FALLBACK,
    Calibration,
    calibration_error,
    features,
    fit,
    with_lengths,
)

VALUES = st.lists(st.tuples(*[st.floats(-5, 5)] * 4), min_size=1, max_size=20)


def answers(random: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Answers whose chance of being right is a known logistic function of score and gap."""
    score, gap = random.normal(0.2, 0.3, count), random.exponential(0.1, count)
    values = features(score + 0.1, score, gap, 1000)
    chance = 1 / (1 + np.exp(-(6 * score + 10 * gap - 2)))
    return values, random.random(count) < chance


def test_features_are_columns_in_order() -> None:
    found = features([0.5, 0.6], [0.1, 0.2], [0.0, 0.3], [1, 100])
    np.testing.assert_allclose(found, [[0.5, 0.1, 0.0, 0.0], [0.6, 0.2, 0.3, np.log(100)]])


def test_features_of_nothing() -> None:
    assert features([], [], [], []).shape == (0, 4)
    assert FALLBACK.probability(features([], [], [], [])).shape == (0,)


@given(VALUES, st.floats(-50, 50), st.lists(st.floats(-100, 100), min_size=4, max_size=4))
def test_probabilities_are_probabilities(
    values: list[tuple[float, ...]], bias: float, weights: list[float]
) -> None:
    found = Calibration(weights=tuple(weights), bias=bias, n=1).probability(np.array(values))
    assert ((found >= 0) & (found <= 1)).all()


def test_a_fit_finds_the_chances_that_made_the_answers() -> None:
    values, right = answers(np.random.default_rng(0), 20_000)
    found = fit(values, right)
    assert found.n == 20_000
    # Cosine and score move together here, so only their sum is determined.
    assert found.weights[0] + found.weights[1] == pytest.approx(6, rel=0.1)
    assert found.weights[2] == pytest.approx(10, rel=0.1)
    assert found.ece is not None
    assert found.ece < 0.02
    fresh, truth = answers(np.random.default_rng(1), 20_000)
    assert calibration_error(found.probability(fresh), truth) < 0.02


def test_a_fit_never_worsens_the_mean() -> None:
    """With an intercept, mean probability is the share of right answers (but for the ridge)."""
    values, right = answers(np.random.default_rng(2), 500)
    assert fit(values, right).probability(values).mean() == pytest.approx(right.mean(), abs=0.01)


@pytest.mark.parametrize("share", [0.0, 1.0, "separable"])
def test_a_fit_of_one_kind_of_answer_is_finite(share: float | str) -> None:
    values, right = answers(np.random.default_rng(3), 200)
    right = values[:, 1] > 0.2 if share == "separable" else np.full(200, bool(share))
    found = fit(values, right)
    assert np.isfinite([*found.weights, found.bias]).all()
    assert (found.probability(values) > 0.5).mean() == pytest.approx(right.mean(), abs=0.05)


def test_a_feature_that_never_varies_gets_no_weight() -> None:
    values, right = answers(np.random.default_rng(4), 500)
    assert fit(values, right).weights[3] == pytest.approx(0, abs=1e-9)


def test_no_answers_cannot_be_fitted() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        fit(np.zeros((0, 4)), np.zeros(0, bool))
    with pytest.raises(ValueError, match="for 3 answers"):
        fit(np.zeros((2, 4)), np.zeros(3, bool))


def test_calibration_error_by_hand() -> None:
    chance = np.array([0.95, 0.95, 0.15, 0.15])
    right = np.array([True, False, False, False])
    assert calibration_error(chance, right) == pytest.approx(0.5 * 0.45 + 0.5 * 0.15)


RISING = np.linspace(-1, 1, 20)


@pytest.mark.parametrize(
    ("fallback", "values"),
    [(FALLBACK, features(0.5, RISING, 0.1, 100)), (WORDS_FALLBACK, features(RISING, 0.5, 0.1, 100))],
    ids=["score", "cosine"],
)
def test_fallbacks_rise_with_what_they_go_by_and_say_that_they_were_not_fitted(
    fallback: Calibration, values: NDArray[np.float64]
) -> None:
    assert (np.diff(fallback.probability(values)) > 0).all()
    assert fallback.n == 0
    assert fallback.ece is None


@pytest.mark.parametrize("values", [{"weights": ()}, {"bias": float("inf")}, {"n": -1}, {"ece": 2}, {"x": 1}])
def test_impossible_calibrations_cannot_be_made(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Calibration(**({"weights": (0.0,) * 4, "bias": 0.0, "n": 1} | values))


def test_lengths_join_the_features() -> None:
    values = features([0.5, 0.6], [0.1, 0.2], [0.0, 0.3], 100)
    found = with_lengths(values, [0.4, -0.2], [0.1, 0.1])
    np.testing.assert_allclose(found[:, :4], values)
    np.testing.assert_allclose(found[:, 4:], [[0.3, 0.4], [0.3, -0.2]])


def test_a_calibration_without_lengths_leaves_them_out() -> None:
    values = features([0.5], [0.1], [0.0], 100)
    four = Calibration(weights=(1.0, 2.0, 3.0, 4.0), bias=0.5, n=1)
    assert four.probability(values) == four.probability(with_lengths(values, [1.0], [2.0]))


def test_an_answer_much_longer_than_the_question_is_less_sure() -> None:
    random = np.random.default_rng(3)
    values, right = answers(random, 5000)
    question = random.normal(0, 0.3, 5000)
    answer = np.where(right, question + random.normal(0, 0.1, 5000), random.normal(0, 0.3, 5000))
    found = fit(with_lengths(values, question, answer), right)
    assert found.weights[4] < 0
    assert calibration_error(found.probability(with_lengths(values, question, answer)), right) < 0.03
