"""How far confidence is from rightness, by pair of languages."""

import numpy as np
import pytest

from evaluation.measures.calibration import ECE, with_calibration
from evaluation.measures.scores import ALL_PAIRS, score_translation
from index.build.encoder_calibration import top_answers
from index.confidence.models import UNFITTED, Model, fit


def spaces(noise: float, n: int = 80) -> dict[str, np.ndarray]:
    random = np.random.default_rng(3)
    centres = random.standard_normal((n, 16))
    found = {code: centres + noise * random.standard_normal((n, 16)) for code in ("en", "de", "zh")}
    return {code: rows / np.linalg.norm(rows, axis=1, keepdims=True) for code, rows in found.items()}


def test_a_question_without_a_right_answer_is_never_right() -> None:
    vectors = spaces(0.2)
    cosines = vectors["en"] @ vectors["de"].T
    values, right = top_answers(cosines.copy(), answerable=True)
    assert right.mean() > 0.9
    assert {len(column) for column in values.values()} == {80}
    _, right = top_answers(cosines.copy(), answerable=False)
    assert not right.any()


def test_certainty_of_what_is_half_wrong_is_half_off() -> None:
    vectors = spaces(0.0)
    sure = Model(weights={"score": 0.0}, bias=50.0, n=1)
    table = with_calibration(score_translation("t", "", vectors), vectors, sure)
    # Each answer is right where the right one is there, which is half of the time.
    assert [pair.measures[ECE] for pair in table.pairs] == pytest.approx([50.0] * 6)
    assert table.means[ALL_PAIRS][ECE] == pytest.approx(50.0)


def test_a_fit_to_the_answers_is_closer_than_certainty() -> None:
    vectors = spaces(0.7)
    answers = [top_answers(vectors["en"] @ vectors["de"].T, right) for right in (True, False)]
    columns = {name: np.concatenate([part[name] for part, _ in answers]) for name in answers[0][0]}
    fitted = fit(columns, np.concatenate([right for _, right in answers]))
    table = with_calibration(score_translation("t", "", vectors), vectors, fitted)
    assert table.means[ALL_PAIRS][ECE] < 10


def test_nothing_is_added_without_a_calibration() -> None:
    vectors = spaces(0.2)
    table = score_translation("t", "", vectors)
    assert with_calibration(table, vectors, UNFITTED.sentence) is table
