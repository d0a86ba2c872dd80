"""fastText's model of languages, and what it adds to the tokens."""

import numpy as np
import pytest

from index.text.identification import (
    Detector,
    clear_language,
    fasttext_chances,
    fasttext_name,
    has_letters,
    likely_languages,
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Привет, как дела?", "ru"),
        ("Привіт, як справи?", "uk"),
        ("Merhaba", "tr"),
        ("WHERE IS THE TRAIN STATION?", "en"),
        ("Wo ist\nder Bahnhof?", "de"),
    ],
)
def test_it_names_languages(text: str, name: str) -> None:
    chances = fasttext_chances(text)
    assert next(iter(chances)) == name
    assert 0.99 < sum(chances.values()) < 1.01


@pytest.mark.parametrize(
    ("code", "name"), [("de", "de"), ("zh-Hant", "zh"), ("sr-Latn", "sh"), ("fil", "tl")]
)
def test_codes_have_names_there(code: str, name: str) -> None:
    assert fasttext_name(code) == name


def test_what_tokens_leave_open_it_decides() -> None:
    detector = Detector(("ru", "uk"), np.zeros((2, 3), np.float32))
    assert clear_language(detector.chances([1])) is None
    assert clear_language(detector.chances([1], fasttext_chances("Привет, как дела?"))) == "ru"


def test_languages_unknown_to_fasttext_are_identified_by_tokens() -> None:
    detector = Detector(("en", "zu"), np.log(np.array([[0.1, 0.9], [0.9, 0.1]], np.float32)))
    assert clear_language(detector.chances([0] * 8, {"en": 0.3})) == "zu"


def test_at_most_three_languages_are_likely_and_no_unlikely_one() -> None:
    assert likely_languages({"cs": 0.4, "sk": 0.3, "pl": 0.2, "hr": 0.1}) == ["cs", "sk", "pl"]
    assert likely_languages({"cs": 0.6, "sk": 0.38, "pl": 0.02}) == ["cs", "sk"]
    assert likely_languages({}) == []


@pytest.mark.parametrize(("text", "letters"), [("é", True), ("狗", True), ("12 °", False), ("🐶", False)])
def test_letters(text: str, letters: bool) -> None:
    assert has_letters(text) is letters
