"""Confidence: a logistic regression that is right about how often it is right."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import ValidationError

from index.confidence import MIN_CONFIDENCE
from index.confidence.models import AGREES, Confidence, Model, calibration_error, fit

Columns = dict[str, NDArray[np.float64]]
SCORE = Model(weights={"score": 3.0}, bias=0.0, n=1)
BOTH = Model(weights={"score": 2.0, "gap": 1.0}, bias=-1.0, n=1)


def answers(random: np.random.Generator, count: int) -> tuple[Columns, NDArray[np.bool_]]:
    """Answers whose chance of being right is a known logistic function of score and gap."""
    score, gap = random.normal(0.2, 0.3, count), random.exponential(0.1, count)
    columns = {"score": score, "gap": gap, "log_candidates": np.full(count, 7.0)}
    chance = 1 / (1 + np.exp(-(6 * score + 10 * gap - 2)))
    return columns, random.random(count) < chance


@given(
    st.lists(st.floats(-5, 5), max_size=20),
    st.floats(-50, 50),
    st.lists(st.floats(-100, 100), min_size=2, max_size=2),
)
def test_probabilities_are_probabilities(values: list[float], bias: float, weights: list[float]) -> None:
    columns = {"score": np.array(values, float), "gap": np.array(values, float)}
    found = Model(weights=dict(zip(columns, weights, strict=True)), bias=bias, n=1).probability(columns)
    assert found.shape == (len(values),)
    assert ((found >= 0) & (found <= 1)).all()


def test_a_fit_finds_the_chances_that_made_the_answers() -> None:
    columns, right = answers(np.random.default_rng(0), 20_000)
    found = fit(columns, right)
    assert found.n == 20_000
    assert found.weights["score"] == pytest.approx(6, rel=0.1)
    assert found.weights["gap"] == pytest.approx(10, rel=0.1)
    assert found.weights["log_candidates"] == pytest.approx(0, abs=1e-9), "it never varies"
    assert found.ece is not None
    assert found.ece < 0.02
    fresh, truth = answers(np.random.default_rng(1), 20_000)
    assert calibration_error(found.probability(fresh), truth) < 0.02


@pytest.mark.parametrize("share", [0.0, 1.0, "separable"])
def test_a_fit_of_one_kind_of_answer_is_finite(share: float | str) -> None:
    columns, right = answers(np.random.default_rng(3), 200)
    right = columns["score"] > 0.2 if share == "separable" else np.full(200, bool(share))
    found = fit(columns, right)
    assert np.isfinite([*found.weights.values(), found.bias]).all()
    assert (found.probability(columns) > 0.5).mean() == pytest.approx(right.mean(), abs=0.05)


def test_no_answers_cannot_be_fitted() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        fit({"score": np.zeros(0)}, np.zeros(0, bool))
    with pytest.raises(ValueError, match="for 3 answers"):
        fit({"score": np.zeros(2)}, np.zeros(3, bool))


def test_calibration_error_by_hand() -> None:
    chance = np.array([0.95, 0.95, 0.15, 0.15])
    right = np.array([True, False, False, False])
    assert calibration_error(chance, right) == pytest.approx(0.5 * 0.45 + 0.5 * 0.15)


@pytest.mark.parametrize("values", [{"weights": {}}, {"bias": float("inf")}, {"n": -1}, {"ece": 2}, {"x": 1}])
def test_impossible_models_cannot_be_made(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Model(**({"weights": {"score": 0.0}, "bias": 0.0, "n": 1} | values))  # type: ignore[arg-type]


FALSE = np.array([False])
CONFIDENCE = Confidence(sentence=BOTH, foreign=SCORE, paraphrase=BOTH, word=SCORE, near=0.03)


def test_a_language_without_sentences_has_a_model_of_its_own() -> None:
    aligned = Model(weights={"aligned_score": 2.0}, bias=-1.0, n=1)
    by_words = Model(weights={"score": 2.0, "covered": 3.0}, bias=-1.0, n=1)
    confidence = CONFIDENCE.model_copy(update={"sentence": by_words})
    columns = {"score": np.array([0.5]), "covered": np.array([0.1]), "contradicts": FALSE}
    assert confidence.of_sentences(columns) == by_words.probability(columns)
    del columns["covered"]
    assert confidence.of_sentences(columns) == SCORE.probability(columns)
    columns["aligned_score"] = np.array([0.7])
    assert confidence.of_sentences(columns) == SCORE.probability(columns)
    fitted = confidence.model_copy(update={"foreign_aligned": aligned})
    assert fitted.of_sentences(columns) == aligned.probability(columns)


def test_evidence_that_is_missing_is_missing_by_name() -> None:
    with pytest.raises(KeyError, match="gap"):
        CONFIDENCE.of_sentences({"score": np.array([0.5]), "contradicts": FALSE})
    with pytest.raises(KeyError, match="gap"):
        CONFIDENCE.of_paraphrases({"score": np.array([0.5]), "contradicts": FALSE})


def test_what_says_nothing_else_is_as_likely_as_such_sentences_are() -> None:
    of = CONFIDENCE.of_remembered
    assert of(0.02, None, agrees=True) == of(0.99, None, agrees=True) == AGREES
    assert of(0.5, 0.7, agrees=True) == AGREES < of(0.5, 0.95, agrees=True) == 0.95
    assert of(0.01, 1.0, agrees=True) == 1
    assert of(0.02, 0.97, agrees=False) == 0.02
    assert of(0.99, 0.97, agrees=False) == CONFIDENCE.most_otherwise


def test_a_text_of_another_kind_is_less_likely_and_other_numbers_are_never_likely() -> None:
    domain = Model(weights={"token_score": 1.0}, bias=0.0, n=1)
    confidence = CONFIDENCE.model_copy(update={"sentence": SCORE, "domain": domain})
    columns = {
        "score": np.array([1.0, 1.0, 1.0]),
        "token_score": np.array([0.0, -2.0, 9.0]),
        "contradicts": np.array([False, False, True]),
    }
    alone = SCORE.probability({"score": np.ones(1)})[0]
    found = confidence.of_sentences(columns)
    assert found[0] == pytest.approx(alone / 2)
    assert found[1] == pytest.approx(alone / (1 + np.exp(2)))
    assert found[2] == 0.03


def test_what_an_answer_is_called() -> None:
    confidence = CONFIDENCE
    assert confidence.match_of(MIN_CONFIDENCE) == "translation"
    assert confidence.match_of(MIN_CONFIDENCE - 0.01) == "near"
    assert confidence.match_of(0.8, similarity=0.8) == "memory"
    assert confidence.match_of(1.0, similarity=1.0, own=True) == "exact"
    assert confidence.match_of(0.8, own=True) == "paraphrase"
    assert confidence.match_of(confidence.most_otherwise, similarity=0.9, own=True) == "near"


def test_rounding_is_no_evidence() -> None:
    right = np.arange(40) % 2 == 0
    fitted = fit({"score": np.linspace(0, 1, 40), "rounded": 1e-8 * right}, right)
    assert abs(fitted.weights["rounded"]) < 1e-3
