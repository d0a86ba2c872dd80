"""The suite `consistency`: what is learned by hand and by what it must do; own and given translations."""

import numpy as np
import pytest

from evaluation.suites.consistency import own_translations, score_consistency
from evaluation.suites.learned_consistency import MARGIN, fit_consistency, triplet_gradient
from index.search.consistency import Consistency

LANGUAGES = ("de", "en", "fr")


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def scenes(count: int, noise: dict[str, float], seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Unit rows a language, each as far from the scene as its language is vague, and the scenes."""
    draw = np.random.default_rng(seed)
    truth = unit(draw.standard_normal((count, 16)))
    found = {code: unit(truth + amount * draw.standard_normal(truth.shape)) for code, amount in noise.items()}
    return found, truth


def test_the_loss_is_the_hinge_over_the_worst_rivals() -> None:
    # One question in two languages, the right answer and two rivals; the mean over languages is the score.
    inputs = np.asarray([[[0.5, 0.3], [0.5, 0.28], [0.1, 0.1]]])
    weights = (np.full((2, 1), 0.5), np.ones(1))
    loss, _ = triplet_gradient(inputs, weights, 1.5)
    assert loss == pytest.approx(1.5 * (MARGIN - 0.40 + 0.39) / 2)


def test_its_gradient_is_the_slope() -> None:
    draw = np.random.default_rng(1)
    inputs = draw.uniform(-0.5, 0.9, (6, 8, 3))
    weights = (draw.uniform(0.1, 0.5, (3, 4)), draw.uniform(0.1, 0.5, 4))
    _, gradient = triplet_gradient(inputs, weights, 1.0)
    for layer, place in ((0, (1, 2)), (0, (2, 0)), (1, (3,))):
        sides = []
        for step in (1e-6, -1e-6):
            moved = [part.copy() for part in weights]
            moved[layer][place] += step
            sides.append(triplet_gradient(inputs, (moved[0], moved[1]), 1.0)[0])
        assert gradient[layer][place] == pytest.approx((sides[0] - sides[1]) / 2e-6, rel=1e-4, abs=1e-9)


def test_it_learns_to_trust_the_languages_that_know() -> None:
    asked, truth = scenes(150, {"de": 0.1, "en": 0.2, "fr": 1.5})
    learned = fit_consistency(LANGUAGES, [(asked, truth)])
    weights = np.asarray(learned.first).mean(axis=1)
    assert weights[2] < weights[0]
    assert weights[2] < weights[1]
    assert np.asarray(learned.first).sum(axis=0) == pytest.approx(1)
    tests, truth = scenes(300, {"de": 0.1, "en": 0.2, "fr": 1.5}, seed=5)
    scores = learned({code: rows @ truth.T for code, rows in tests.items()})
    uniform = Consistency.uniform(LANGUAGES)({code: rows @ truth.T for code, rows in tests.items()})
    right = [np.mean(found.argmax(axis=1) == np.arange(300)) for found in (scores, uniform)]
    assert right[0] >= right[1]


def test_where_most_answers_are_wrong_it_does_not_collapse() -> None:
    asked, truth = scenes(150, dict.fromkeys(LANGUAGES, 4.0))
    learned = fit_consistency(LANGUAGES, [(asked, truth)])
    assert np.std(learned({code: rows @ truth.T for code, rows in asked.items()})) > 0.01


def test_own_translations_are_the_nearest_of_third_languages() -> None:
    bank = {code: np.eye(4, dtype=np.float32)[::-1] for code in ("de", "en", "fr")}
    questions = unit(np.asarray([[1.0, 0.1, 0, 0], [0, 0, 0.2, 1.0]]))
    found = own_translations(questions, "en", "de", bank)
    assert set(found) == {"en", "fr"}
    assert found["en"] is questions
    assert found["fr"].tolist() == [[1, 0, 0, 0], [0, 0, 0, 1]]


def test_good_translations_help_and_are_never_in_the_targets_language() -> None:
    tests, _ = scenes(200, dict.fromkeys(LANGUAGES, 0.35))
    bank, _ = scenes(300, {"fr": 0.0}, seed=9)
    pair = score_consistency("en", "de", tests, bank, Consistency.uniform(LANGUAGES))
    assert pair.n == 200
    assert pair.measures["given_a_r1"] > pair.measures["alone_r1"]
    assert pair.measures["given_c_r1"] == pytest.approx(pair.measures["given_a_r1"], abs=2)
    only, _ = scenes(200, {"en": 0.35})
    blind = {"en": only["en"], "de": tests["de"]}
    assert (
        score_consistency("en", "de", blind, {}, Consistency.uniform(LANGUAGES)).measures["given_a_r1"]
        == (score_consistency("en", "de", blind, {}, Consistency.uniform(LANGUAGES)).measures["alone_r1"])
    )


def test_it_tells_apart_languages_that_all_help() -> None:
    """Every weight's gradient has one sign: only their differences say whom to trust."""
    asked, truth = scenes(200, {"de": 0.3, "en": 0.5, "fr": 0.8})
    weights = np.asarray(fit_consistency(LANGUAGES, [(asked, truth)]).first).mean(axis=1)
    assert weights[0] > weights[1] > weights[2]
