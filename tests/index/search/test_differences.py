"""The words by which a question and an answer differ."""

from pathlib import Path

import pytest

from index.search.ranking import Differences
from index.search.translator import Translator


@pytest.fixture(scope="module")
def translator(index_dir: Path) -> Translator:
    return Translator.open(index_dir)


def compared(translator: Translator, text: str, answer: str, source: str, target: str) -> Differences:
    """How a text differs from this answer."""
    vectors = translator.encode([text])
    (matches,) = translator.sentences([text], source, target, 50, vectors=vectors)
    (match,) = [match for match in matches if match.text == answer]
    return translator.compare([text], vectors, source, target, [[match]])[0][0].differs


def test_a_translation_does_not_differ(translator: Translator) -> None:
    (match,) = translator.sentences(["A small dog runs on the beach."], "en", "de")[0]
    assert compared(translator, "A small dog runs on the beach.", match.text, "en", "de") == Differences()


def test_other_details_are_named_as_they_are_written(translator: Translator) -> None:
    answer = "Der katze ist weiß und schläft: schnee."
    differs = compared(translator, "A white cat sleeps in the WATER.", answer, "en", "de")
    assert differs == Differences(question=("WATER",), answer=("schnee",))


def test_a_word_that_the_index_does_not_know_is_compared_by_its_tokens(translator: Translator) -> None:
    answer = translator.sentences(["A small dog runs on the beach."], "en", "de")[0][0].text
    differs = compared(translator, "A small dog runs on the beach zzzz.", answer, "en", "de")
    assert set(differs.question) <= {"zzzz"}
    assert differs.answer == ()


def test_nothing_to_compare(translator: Translator) -> None:
    vectors = translator.encode(["?"])
    matches = translator.sentences(["?"], "en", "de", vectors=vectors)
    assert translator.compare(["?"], vectors, "en", "de", matches)[0][0].differs == Differences()
    assert translator.compare([], vectors[:0], "en", "de", []) == []
