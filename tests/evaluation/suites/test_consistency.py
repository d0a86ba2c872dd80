"""The suite `consistency`: own translations, and what given ones are worth."""

import numpy as np

from evaluation.suites.consistency import own_translations, score_consistency

LANGUAGES = ("de", "en", "fr")


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def scenes(count: int, noise: dict[str, float], seed: int = 0) -> dict[str, np.ndarray]:
    """Unit rows a language, each as far from the scene as its language is vague."""
    draw = np.random.default_rng(seed)
    truth = unit(draw.standard_normal((count, 16)))
    return {code: unit(truth + amount * draw.standard_normal(truth.shape)) for code, amount in noise.items()}


def test_own_translations_are_the_nearest_of_third_languages() -> None:
    bank = {code: np.eye(4, dtype=np.float32)[::-1] for code in ("de", "en", "fr")}
    questions = unit(np.asarray([[1.0, 0.1, 0, 0], [0, 0, 0.2, 1.0]]))
    found = own_translations(questions, "en", "de", bank)
    assert set(found) == {"en", "fr"}
    assert found["en"] is questions
    assert found["fr"].tolist() == [[1, 0, 0, 0], [0, 0, 0, 1]]


def test_good_translations_help_and_are_never_in_the_targets_language() -> None:
    tests = scenes(200, dict.fromkeys(LANGUAGES, 0.35))
    pair = score_consistency("en", "de", tests, scenes(300, {"fr": 0.0}, seed=9))
    assert pair.n == 200
    assert pair.measures["given_r1"] > pair.measures["alone_r1"]
    blind = {"en": scenes(200, {"en": 0.35})["en"], "de": tests["de"]}
    measures = score_consistency("en", "de", blind, {}).measures
    assert measures["given_r1"] == measures["own_r1"] == measures["alone_r1"]
