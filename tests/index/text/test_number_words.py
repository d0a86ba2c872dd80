"""Numbers in figures and in words are the same numbers, in every language of the shipped index."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.text.normalisation import words
from index.text.number_words import Number, contradict, in_words, numbers_in

COUNTS = st.dictionaries(st.integers(2, 9), st.integers(1, 3)).map(Counter[Number])


@pytest.mark.parametrize(
    ("language", "text", "numbers"),
    [
        ("en", "Two dogs.", [2]),
        ("en", "2 dogs.", [2]),
        ("de", "Zwei Hunde.", [2]),
        ("pt", "Dois cachorros.", [2]),
        ("pt", "Duas meninas.", [2]),
        ("zh", "两只狗。", [2]),
        ("ar", "إثنان من الكلاب", [2]),
        ("tr", "İki köpek.", [2]),
        ("fr", "Deux chiens.", [2]),
        ("cs", "Dva psi.", [2]),
        ("cs", "Dvě dívky.", [2]),
        ("es", "Dos perros.", [2]),
        ("uk", "Дві дівчини.", [2]),
        ("hi", "दो कुत्ते।", [2]),
        ("hi", "२ कुत्ते।", [2]),
        ("en", "Twenty-two dogs and three cats at 12:30.", [22, 3, "12 30"]),
        ("pt", "Vinte e dois cachorros.", [22]),
        ("de", "Zweiundzwanzig Hunde.", [22]),
        ("en", "Two hundred dogs.", [200]),
        ("en", "1" * 5000, ["1" * 5000]),
        ("de", "Fünfhundert Hunde.", [500]),
        ("en", "One dog.", []),
        ("fr", "Un chien et une chatte.", []),
        ("en", "2.5 mg, 1,500 ml, 1.50 at 8:30", ["2.5", 1500, "1.5", "8 30"]),
        ("de", "2,5 mg, 1.500 ml, 1,50 um 8.30 Uhr", ["2.5", 1500, "1.5", "8 30"]),
        ("fr", "1\u202f500 ml, 1\u00a0500 ml", [1500, 1500]),
        ("en", "", []),
    ],
)
def test_numbers_are_the_same_in_figures_and_in_one_word_or_several(
    language: str, text: str, numbers: list[Number]
) -> None:
    assert numbers_in(text, words(text, language), language) == Counter(numbers)


@given(COUNTS, COUNTS)
def test_only_a_number_against_another_contradicts(some: Counter[Number], others: Counter[Number]) -> None:
    assert contradict(some, others) == contradict(others, some)
    assert not contradict(some, some)
    assert not contradict(some, some + others)  # more numbers
    assert not contradict(some, Counter())


@pytest.mark.parametrize(
    ("figures", "spelled"),
    [
        ("Take 2 tablets.", "Take two tablets."),
        ("Room 12 costs 200 euros.", "Room twelve costs two hundred euros."),
        ("A 30-minute break.", "A thirty-minute break."),
        ("At 12:30 it costs 2.50, not 3.", "At 12:30 it costs 2.50, not 3."),
        ("1 tablet, 1234 euros, B2.", "1 tablet, 1234 euros, B2."),
    ],
)
def test_figures_are_written_in_words_where_these_are_more_frequent(figures: str, spelled: str) -> None:
    frequency = {"two": 5, "twelve": 2, "12": 1, "thirty": 1, "three": 1, "3": 1}
    assert in_words(figures, "en", lambda word: frequency.get(word, 0)) == spelled
