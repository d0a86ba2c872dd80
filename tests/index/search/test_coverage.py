"""Coverage: translations have words for each other, whatever they are asked together with."""

from pathlib import Path

import numpy as np
import pytest

from index.search.translator import Translator

TEXTS = [
    "A black dog runs on the snow.",
    "A white cat sleeps in the water.",
    "The small horse jumps.",
]


@pytest.fixture(scope="module")
def translator(index_dir: Path) -> Translator:
    return Translator.open(index_dir)


def covered(translator: Translator, texts: list[str], rows: list[list[int]]) -> np.ndarray:
    found = translator.sentence_indexes["de"].coverage(texts, "en")
    assert found is not None
    return found(np.array(rows, np.int64))


def test_an_answer_covers_its_question_more_than_others_do(translator: Translator) -> None:
    index = translator.sentence_indexes["de"]
    for text in TEXTS:
        best = translator.sentences([text], "en", "de")[0][0].row
        others = [row for row in range(min(20, len(index))) if row != best]
        found = covered(translator, [text], [[best, *others]])[0]
        assert (found[0, :2] >= found[1:, :2] - 1e-6).mean() > 0.9
        assert (found[0, 2] <= found[1:, 2] + 1e-6).mean() > 0.9


def test_questions_asked_together_are_covered_as_alone(translator: Translator) -> None:
    texts = [TEXTS[number % 3] + " a" * number for number in range(9)]
    rows = [[number % 5, 3, number % 2] for number in range(len(texts))]
    together = covered(translator, texts, rows)
    alone = [covered(translator, [text], [row])[0] for text, row in zip(texts, rows, strict=True)]
    assert np.array_equal(together, np.stack(alone))
    assert together.shape == (len(texts), 3, 4)


def test_a_text_without_words_covers_nothing(translator: Translator) -> None:
    assert not covered(translator, ["???"], [[0, 1]]).any()
    found = covered(translator, ["???", TEXTS[0], ""], [[0], [0], [0]])
    assert not found[[0, 2]].any()
    assert found[1].any()


def test_rare_words_weigh_more(translator: Translator) -> None:
    """Of two words that the answer has not, the one that the index has never seen takes away more."""
    row = translator.sentences([TEXTS[0]], "en", "de")[0][0].row
    (whole,), (strange,) = covered(translator, [TEXTS[0], f"{TEXTS[0]} zzzz"], [[row], [row]])
    assert strange[0] < whole[0]


def test_the_word_that_is_not_said_is_what_lacks(translator: Translator) -> None:
    """The question gains a word that the index can translate, and its answer does not."""
    row = translator.sentences([TEXTS[0]], "en", "de")[0][0].row
    (whole,), (more,) = covered(translator, [TEXTS[0], f"{TEXTS[0]} woman"], [[row], [row]])
    assert more[2] > whole[2] + 0.1
    assert more[3] <= whole[3] + 1e-6


def test_words_of_a_language_that_the_index_lacks_are_not_compared(translator: Translator) -> None:
    assert translator.sentence_indexes["de"].coverage(["Bonjour."], "xx") is None
