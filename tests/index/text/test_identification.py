"""Language detection by tokens, and what fastText's model of languages adds to them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from index.text.identification import (
    FOREIGN_PROBABILITY,
    FOREIGN_TOKENS,
    Detector,
    clear_language,
    fasttext_chances,
    fasttext_name,
    has_letters,
    likely_languages,
    table_row,
)
from index.text.pre_tokens import Tokens

# Tokens 0-2 are German, 3-5 English, 6 both, 7 nobody's.
COUNTS = np.array([[50.0, 30, 20, 0, 0, 1, 40, 0], [0, 0, 1, 500, 300, 200, 400, 0]])


def token_table(counts: NDArray[np.float64]) -> NDArray[np.float32]:
    return np.stack([table_row(row) for row in counts])


@pytest.fixture
def detector() -> Detector:
    return Detector(("de", "en"), token_table(COUNTS))


@pytest.mark.parametrize(
    ("tokens", "language"),
    [([0], "de"), ([3], "en"), ([0, 1, 6, 7], "de"), ([4, 6], "en"), ([0, 1, 2, 5], "de")],
)
def test_tokens_of_one_language_tell_it(detector: Detector, tokens: list[int], language: str) -> None:
    assert clear_language(detector.chances(tokens)) == language


@pytest.mark.parametrize("tokens", [[], [6], [7], [7, 7, 7, 7], [0, 3]])
def test_what_says_nothing_is_not_guessed(detector: Detector, tokens: list[int]) -> None:
    assert clear_language(detector.chances(tokens)) is None


@given(st.lists(st.integers(0, 7), max_size=12), st.integers(0, 99))
def test_the_order_of_tokens_and_languages_does_not_matter(tokens: list[int], seed: int) -> None:
    shuffled = np.random.default_rng(seed).permutation(tokens).astype(int).tolist()
    forward, backward = (
        Detector(("de", "en"), token_table(COUNTS)),
        Detector(("en", "de"), token_table(COUNTS[::-1])),
    )
    assert clear_language(forward.chances(tokens)) == clear_language(backward.chances(shuffled))


def test_a_small_language_is_not_drowned_by_a_large_one() -> None:
    small = Detector(("de", "en"), token_table(np.array([[5.0, 0], [0, 50_000]])))
    assert clear_language(small.chances([0])) == "de"


def test_the_chances_of_all_languages_sum_to_one_the_likeliest_first(detector: Detector) -> None:
    chances = detector.chances([3, 4])
    assert list(chances) == ["en", "de"]
    assert sum(chances.values()) == pytest.approx(1)
    assert chances["en"] > 0.9
    assert detector.chances([]) == {"de": 0.5, "en": 0.5}


TEXTS = st.lists(st.lists(st.integers(0, 11), max_size=20), max_size=8)


@given(st.integers(1, 6), TEXTS, st.sampled_from([(), ("l0",), ("l0", "l1")]), st.integers(0, 1 << 32))
def test_many_texts_are_judged_as_each_alone(
    languages: int, rows: list[list[int]], held: tuple[str, ...], seed: int
) -> None:
    """Whatever is told early."""
    counts = np.random.default_rng(seed).choice([0, 1, 30, 1000], (languages, 12)) + 1e-3
    detector = Detector([f"l{number}" for number in range(languages)], token_table(counts), held)
    for code in (*detector.languages, "unknown"):
        alone = [
            len(row) >= FOREIGN_TOKENS and detector.chances(row).get(code, 1) < FOREIGN_PROBABILITY
            for row in rows
        ]
        assert detector.foreign(Tokens.of(rows), code).tolist() == alone


def test_a_language_of_the_index_is_likelier_than_another() -> None:
    """One word that three languages have is taken for that of the index; what says more is still heard."""
    table = token_table(np.array([[50.0, 50, 0, 0], [50, 0, 50, 0], [50, 0, 0, 50]]))
    assert clear_language(Detector(("da", "de", "no"), table).chances([0])) is None
    held = Detector(("da", "de", "no"), table, indexed=("de",))
    assert clear_language(held.chances([0])) == "de"
    assert clear_language(held.chances([0, 3, 3])) == "no"
    assert sum(held.chances([0]).values()) == pytest.approx(1)
    both = Detector(("da", "de", "no"), table, ("da", "de"))
    assert clear_language(both.chances([0])) is None, "between languages of the index it is as before"


def test_a_line_in_a_language_of_the_index_is_foreign_less_readily() -> None:
    counts = np.array([[40.0, 60], [60, 40]])
    tokens = Tokens.of([[1] * 26])
    languages, table = ("de", "en"), token_table(counts)
    assert Detector(languages, table).foreign(tokens, "en").tolist() == [True]
    assert Detector(languages, table, ("en",)).foreign(tokens, "en").tolist() == [False]


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
