"""The shipped contrasts: the same kinds row by row in every language, two sentences a row, each but once."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from tests.corpora.test_phrases import FIRST_LANGUAGES, QUESTION_MARKS, spelled

FOLDER = Path(__file__).resolve().parents[2] / "corpora" / "contrasts"
KINDS = ["negation", "number", "side", "date", "person", "open", "degree", "place", "role", "mood"]


def rows(language: str) -> list[tuple[str, str, str]]:
    with (FOLDER / f"{language}.tsv").open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    assert header == ["kind", "sentence", "opposite"]
    return [(kind, sentence, opposite) for kind, sentence, opposite in lines]


def test_the_languages_of_the_everyday_sentences_are_there() -> None:
    assert {path.stem for path in FOLDER.glob("*.tsv")} == FIRST_LANGUAGES


@pytest.mark.parametrize("language", sorted(FIRST_LANGUAGES))
def test_every_kind_has_sixty_pairs_and_its_row_in_every_language(language: str) -> None:
    kinds = [kind for kind, _, _ in rows(language)]
    assert list(dict.fromkeys(kinds)) == KINDS
    assert min(Counter(kinds).values()) >= 60
    assert kinds == [kind for kind, _, _ in rows("en")]


@pytest.mark.parametrize("language", sorted(FIRST_LANGUAGES))
def test_no_sentence_stands_twice_and_all_are_clean(language: str) -> None:
    sentences = [text for _, *pair in rows(language) for text in pair]
    assert [text for text, count in Counter(sentences).items() if count > 1] == []
    for text in sentences:
        spelled(text, language)


@pytest.mark.parametrize("language", sorted(FIRST_LANGUAGES))
def test_a_pair_ends_alike_and_asks_where_the_english_one_asks(language: str) -> None:
    """But where it is asked or stated: then one of the two asks."""
    for (kind, english, _), (_, sentence, opposite) in zip(rows("en"), rows(language), strict=True):
        if kind == "mood":
            assert sentence.endswith(QUESTION_MARKS) != opposite.endswith(QUESTION_MARKS)
        else:
            assert sentence[-1] == opposite[-1]
        assert english.endswith("?") == sentence.endswith(QUESTION_MARKS), (english, sentence)
