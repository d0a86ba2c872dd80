"""Text of other kinds than scenes: enough of every kind in each language, none of it among the scenes."""

import unicodedata
from collections import Counter
from pathlib import Path

import pytest

CORPORA = Path(__file__).resolve().parents[2] / "corpora"
KINDS = ["greeting", "question", "interface", "headline", "proverb", "domain"]
LANGUAGES = sorted(path.stem for path in (CORPORA / "elsewhere").glob("*.tsv"))


def rows(language: str) -> list[list[str]]:
    text = (CORPORA / "elsewhere" / f"{language}.tsv").read_text("utf-8")
    return [line.split("\t") for line in text.removesuffix("\n").split("\n")]


def test_the_languages_are_among_those_of_the_scenes() -> None:
    assert {"en", "de", "fr", "es"} <= set(LANGUAGES)
    assert set(LANGUAGES) <= {path.stem for path in (CORPORA / "everyday").glob("*.txt")}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_has_its_lines_in_one_place_and_in_the_part_held_out(language: str) -> None:
    kinds = [kind for kind, _ in rows(language)]
    assert len(kinds) >= 300
    assert kinds == sorted(kinds, key=KINDS.index)
    assert min(Counter(kinds).values()) >= 45
    assert min(Counter(kinds[2::3]).values()) >= 15
    assert set(kinds) == set(KINDS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_line_is_clean_and_occurs_once(language: str) -> None:
    texts = [text for _, text in rows(language)]
    for text in texts:
        assert text, language
        assert text == unicodedata.normalize("NFC", " ".join(text.split()))
    folded = [text.casefold() for text in texts]
    assert [text for text, count in Counter(folded).items() if count > 1] == []
    scenes = (CORPORA / "everyday" / f"{language}.txt").read_text("utf-8").casefold().splitlines()
    assert set(folded) & set(scenes) == set()
