"""Where words and phrases stand in an index."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.answers.concordance import concordance
from index.answers.translator import Translator
from index.encoder.bundle import Bundle
from index.storage.options import Cleaning
from index.text.normalisation import clean
from tests.files import index_of_table

LINES = [
    ("The dog sleeps.", "Der Hund schläft.", "狗在睡觉。"),
    ("A hotdog, a dog and another DOG!", "Ein Hotdog.", ""),
    ("Dogs (two of them) run.", "Hunde rennen.", "两只狗在跑。"),
    ("Is it 50 % of $3.50?", "Nein.", ""),
]


@pytest.fixture(scope="module")
def translator(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Translator:
    path, off = tmp_path_factory.mktemp("concordance") / "x.tsv", Cleaning(("language", "near"))
    return Translator.open(index_of_table(bundle, path, [("en", "de", "zh"), *LINES], cleaning=off))


def texts(translator: Translator, phrase: str, source: str = "en") -> list[str]:
    page = concordance(translator, phrase, source, [])
    assert page.next is None
    return [
        "|".join(occurrence.text[begin:end] for begin, end in occurrence.places)
        for occurrence in page.results
    ]


@pytest.mark.parametrize(
    ("phrase", "found"),
    [
        ("dog", ["dog", "dog|DOG"]),
        ("DOG and another", ["dog and another"]),
        ("(two", ["(two"]),
        ("50 %", ["50 %"]),
        ("$3.50?", ["$3.50?"]),
        ("3x50", []),
        (".", [".", ".", "."]),
        ("cat", []),
    ],
)
def test_words_are_found_whole(translator: Translator, phrase: str, found: list[str]) -> None:
    assert texts(translator, phrase) == found


def test_scripts_without_spaces_have_no_whole_words(translator: Translator) -> None:
    assert texts(translator, "狗", "zh") == ["狗", "狗"]


def test_each_sentence_comes_with_its_translations(translator: Translator) -> None:
    first, second = concordance(translator, "dog", "en", ["de", "zh"]).results
    assert [s.text for s in first.translations["de"]] == ["Der Hund schläft."]
    assert [s.text for s in first.translations["zh"]] == ["狗在睡觉。"]
    assert second.translations["zh"] == []
    assert first.metadata["file"] == "x.tsv"


def test_pages_follow_each_other(translator: Translator) -> None:
    found, begin = list[str](), 0
    for _ in range(3):
        page = concordance(translator, ".", "en", [], begin=begin, count=1)
        found += [occurrence.text for occurrence in page.results]
        begin = page.next or 0
    assert found == [LINES[0][0], LINES[2][0], LINES[3][0]]
    assert concordance(translator, ".", "en", [], begin=10**9).results == []


@given(st.text(min_size=1, max_size=8).filter(clean))
def test_any_phrase_can_be_looked_up(translator: Translator, phrase: str) -> None:
    for occurrence in concordance(translator, phrase, "en", ["de"]).results:
        for begin, end in occurrence.places:
            assert 0 <= begin < end <= len(occurrence.text)
