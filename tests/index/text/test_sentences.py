"""Texts divided into sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.languages import has_spaces
from index.text.normalisation import clean
from index.text.segments import MOST_SENTENCES, sentences


@pytest.mark.parametrize(
    ("language", "parts"),
    [
        ("en", ["A dog runs."]),
        ("en", ["A dog runs.", "A cat sleeps!", "Does it?"]),
        ("en", ["Mr. Smith paid 3.50.", "He left."]),
        ("en", ['"Run!"', "he said.", "Then he left..."]),
        ("de", ["Er kommt morgen um 3,5 Uhr an.", "Sie bleibt."]),
        ("fr", ["Où est-il ?", "Il dort."]),
        ("zh", ["狗在跑。", "猫在睡！", "真的吗？"]),
        ("hi", ["कुत्ता दौड़ता है।", "बिल्ली सोती है।"]),
        ("ar", ["هل تنام؟", "نعم."]),
        ("xx", ["A dog.", "A cat."]),
        # A full stop of an abbreviation ends no sentence.
        ("en", ["Dr. Smith and Mrs. J. Jones wait.", "See pp. 5.", "It costs approx. 5 euros."]),
        ("en", ["So do I.", "He has 5.", "You have 3."]),
        ("de", ["Das ist z. B. gut.", "Am 3. Mai regnet es.", "Gut."]),
        ("fr", ["J'ai 5 chats.", "M. Dupont en a 3.", "Bien."]),
    ],
)
def test_a_text_is_divided(language: str, parts: list[str]) -> None:
    assert sentences((" " if has_spaces(language) else "").join(parts), language) == parts


def test_marks_alone_are_no_sentence() -> None:
    assert sentences("A dog. ... !!! A cat.", "en") == ["A dog. ... !!!", "A cat."]
    assert sentences("? ! ?", "en") == ["? ! ?"]


def test_a_very_long_text_is_not_divided() -> None:
    assert len(sentences("A dog. " * MOST_SENTENCES, "en")) == MOST_SENTENCES
    assert len(sentences("A dog. " * (MOST_SENTENCES + 1), "en")) == 1


@given(st.text(st.sampled_from("ab .!?。\"'1"), max_size=40).map(clean))
def test_no_word_is_lost(text: str) -> None:
    parts = sentences(text, "en")
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert len(parts) == 1 or all(any(sign.isalnum() for sign in part) for part in parts[1:])
