"""What a build computes of sentences for evidence."""

from collections import Counter

import numpy as np
import pytest

from index.answers.sentence_features import WORDS_READ, Features, length, number_codes
from index.text.normalisation import words_of

VOCABULARY = ["a", "dog", "runs", "hot dog", "dogs", "twenty"]
TEXTS = ["A dog runs.", "", "20 dogs, twenty cats and 12:30!", "A hot dog", "dog " * 100]


@pytest.fixture(scope="module")
def features() -> Features:
    return Features.of([TEXTS[:2], TEXTS[2:]], VOCABULARY, "en")


def test_words_are_rows_of_the_word_index_without_those_that_it_lacks(features: Features) -> None:
    tokens = features.words_of(np.array([2, 0, 1, 3]))
    assert tokens.lengths.tolist() == [2, 3, 0, 2]
    assert [VOCABULARY[row] for row in tokens.ids] == ["dogs", "twenty", "a", "dog", "runs", "a", "dog"]
    assert features.words_of(np.array([4])).lengths.tolist() == [WORDS_READ]


def test_lengths_are_of_the_text_without_its_end(features: Features) -> None:
    np.testing.assert_allclose(features.lengths, [length(text) for text in TEXTS])
    assert length("A dog runs.") == length("A dog runs") == pytest.approx(np.log(11))


def test_numbers_are_the_same_in_figures_and_in_words(features: Features) -> None:
    found = features.numbers_of(2)
    assert found[20] == 2
    assert sum(found.values()) == 3
    assert features.numbers_of(0) == features.numbers_of(1) == Counter()
    assert number_codes("20", ["20"], "en") == number_codes("zwanzig", ["zwanzig"], "de") == Counter({20: 1})
    assert number_codes("12:30", words_of("12:30", "en"), "en") != number_codes("12:31", (), "en")


def test_one_after_the_other(features: Features) -> None:
    both = Features.of([TEXTS], VOCABULARY, "en").followed(features)
    assert len(both) == 2 * len(TEXTS)
    for row in range(len(TEXTS)):
        first, second = (both.words_of(np.array([place])).ids.tolist() for place in (row, row + len(TEXTS)))
        assert first == second
        assert both.numbers_of(row) == both.numbers_of(row + len(TEXTS))
