"""The shipped everyday scenes: aligned, clean, in the right script, each scene distinct."""

import re
import unicodedata
from itertools import combinations
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "corpora" / "everyday"
LANGUAGES = ("en", "de", "pt", "zh", "ar")
LATIN = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ ,'.-]+")
SCRIPTS = {
    "en": LATIN,
    "de": LATIN,
    "pt": LATIN,
    "zh": re.compile(r"[\u4e00-\u9fff，、。]+"),
    "ar": re.compile(r"[\u0621-\u063a\u0641-\u064a ،.]+"),  # letters alone: no tatweel, no vowel marks
}


def read(language: str) -> list[str]:
    text = (FOLDER / f"{language}.txt").read_bytes().decode("utf-8")
    assert text.endswith("\n")
    return text[:-1].split("\n")


def folded(line: str) -> str:
    return " ".join(re.findall(r"\w+", line.casefold()))


def units(line: str, language: str) -> frozenset[str]:
    """What two lines are compared by: words, or pairs of characters where words are not spaced."""
    text = folded(line)
    if language != "zh":
        return frozenset(text.split())
    characters = text.replace(" ", "")
    return frozenset(characters[i : i + 2] for i in range(len(characters) - 1))


def test_files_are_aligned() -> None:
    counts = {language: len(read(language)) for language in LANGUAGES}
    assert len(set(counts.values())) == 1, counts
    assert counts["en"] >= 150


@pytest.mark.parametrize("language", LANGUAGES)
def test_lines_are_clean(language: str) -> None:
    stop = "。" if language == "zh" else "."
    for number, line in enumerate(read(language), start=1):
        where = f"{language}.txt:{number}: {line!r}"
        assert line, where
        assert line == " ".join(line.split()), where
        assert unicodedata.is_normalized("NFC", line), where
        assert SCRIPTS[language].fullmatch(line), where
        assert line.endswith(stop), where
        assert line.count(stop) == 1, where


@pytest.mark.parametrize("language", LANGUAGES)
def test_scenes_are_distinct(language: str) -> None:
    lines = read(language)
    assert len({folded(line) for line in lines}) == len(lines)
    for (a, first), (b, second) in combinations(((units(line, language), line) for line in lines), 2):
        assert len(a & b) / len(a | b) < 0.8, (first, second)
