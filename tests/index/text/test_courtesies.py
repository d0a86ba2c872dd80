"""Courtesies are left out, alone they stay, and however often they are repeated that takes no time."""

import time

import pytest

from index.text.courtesies import _tables, without_courtesies

LANGUAGES = sorted(_tables())
MOST_SECONDS = 0.5  # for a text of 1,000 characters, which takes 10 ms


@pytest.mark.parametrize(
    ("text", "language", "asked"),
    [
        ("Hello, um, could you tell me where it hurts, please?", "en", "where it hurts?"),
        ("My stomach hurts, doctor.", "en", "My stomach hurts."),
        ("I need a doctor.", "en", "I need a doctor."),
        ("Could you tell me when it hurts?", "en", "Could you tell me when it hurts?"),
        ("I wanted to ask when you close.", "en", "when you close?"),
        ("Sagen Sie, Frau Müller, ist das richtig?", "de", "Sagen Sie, Frau Müller, ist das richtig?"),
        ("Frau Müller, ist das richtig?", "de", "ist das richtig?"),
        ("Está embarazada, ¿verdad?", "es", "Está embarazada?"),
        ("你好吗？", "zh", "你好吗？"),
        ("医生，我肚子疼。", "zh", "我肚子疼。"),
        ("Good morning!", "en", "Good morning!"),
        ("Bonan matenon, kie doloras?", "eo", "Bonan matenon, kie doloras?"),
    ],
)
def test_what_stands_around_a_sentence_is_left_out(text: str, language: str, asked: str) -> None:
    assert without_courtesies(text, language) == asked


@pytest.mark.parametrize("language", LANGUAGES)
def test_repeated_courtesies_take_no_time(language: str) -> None:
    phrases = {phrase.replace("*", "anna") for some in _tables()[language].values() for phrase in some}
    for phrase in sorted(phrases):
        for text in (f"{phrase} " * 1000, f"x{phrase}" * 1000, "x" + f", {phrase}" * 1000, "x" + ",¿" * 500):
            begun = time.perf_counter()
            without_courtesies(text[:999] + "y", language)
            assert time.perf_counter() - begun < MOST_SECONDS, phrase
