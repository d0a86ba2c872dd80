from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from index.arrays import Vectors
from index.build import encoder_calibration as calibration
from index.build.encoder_calibration import calibrate_sentences, calibrate_words, top_answers
from index.confidence.models import Model
from index.encoder.text_encoder import TextEncoder
from tests.bundles import lexicon, make_bundle, sentences

ANSWERS_TO_A_WORD = 28  # that are compared: all words of the sentences


def vectors(noise: float, n: int = 120, languages: int = 2, seed: int = 0) -> dict[str, Vectors]:
    """Row i near one point in every language."""
    draw = np.random.default_rng(seed)
    centre = draw.standard_normal((n, 16))
    found = {}
    for number in range(languages):
        rows = centre + noise * draw.standard_normal((n, 16))
        found[f"l{number}"] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return found


def confidence(fitted: Model, given: dict[str, Vectors], answerable: bool) -> np.ndarray:
    """Of the top answers in other vectors, with the right answer there or taken away."""
    return fitted.probability(top_answers(given["l0"] @ given["l1"].T, answerable).columns)


def test_an_answer_that_is_there_is_trusted_and_a_wrong_one_is_not() -> None:
    fitted = calibrate_sentences([vectors(0.3)], seed=0)
    fresh = vectors(0.3, seed=1)
    assert np.median(confidence(fitted, fresh, answerable=True)) > 0.9
    assert np.median(confidence(fitted, fresh, answerable=False)) < 0.1


def test_vectors_that_say_nothing_deserve_no_confidence() -> None:
    unrelated = {"l0": vectors(0.3)["l0"], "l1": vectors(0.3, seed=9)["l1"]}
    assert confidence(calibrate_sentences([unrelated], seed=0), unrelated, answerable=True).max() < 0.2


@pytest.mark.parametrize(
    ("n", "languages", "answers"), [(60, 2, 2 * 2 * 60), (60, 3, 6 * 2 * 60), (120, 2, 2 * 2 * (100 + 120))]
)
def test_every_ordered_pair_pool_and_both_cases_count(n: int, languages: int, answers: int) -> None:
    assert calibrate_sentences([vectors(0.5, n, languages)], seed=0).n == answers


def test_sets_count_together_and_one_of_many_languages_does_not_outweigh(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, many = vectors(0.5, 60), vectors(0.5, 40, languages=6)
    assert calibrate_sentences([one, many], seed=0).n == 2 * 2 * 60 + 30 * 2 * 40
    monkeypatch.setattr(calibration, "MAX_PAIRS", 7)
    assert calibrate_sentences([one, many], seed=0).n == 2 * 2 * 60 + 7 * 2 * 40


def test_words_are_asked_as_an_index_of_everyday_sentences_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = TextEncoder(make_bundle(tmp_path / "b"))
    monkeypatch.setattr(calibration, "everyday", lambda code: sentences(code)[::7])
    entries = [(concept["en"], concept["de"]) for concept in lexicon()]
    of_a_language_unknown = ("en", "fr", [("dog", "chien")])
    asked = [("en", "de", [*entries, ("moon", "mond")]), of_a_language_unknown]
    monkeypatch.setattr(calibration, "dictionary", lambda: asked)
    fitted = calibrate_words(encoder)
    # Half of the words, and all answers to them, as each likeliest one is right; no sentence has a moon.
    asked_words = sum(crc32(word.encode()) % 2 == 0 for entry in entries for word in entry)
    assert fitted.n == asked_words * ANSWERS_TO_A_WORD
    found = {"cosine": 0.9, "score": 1.2, "gap": 1.0, "shortfall": 0.0, "rarer": 0.0}
    assert fitted.probability({name: np.array([value]) for name, value in found.items()}) > 0.9
