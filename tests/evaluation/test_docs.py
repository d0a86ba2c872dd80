"""The examples of docs/data.md are read by the code that reads the data."""

import re
from pathlib import Path

import pytest

from evaluation.cli import SUITES, WORDS
from evaluation.suites.pictograms import read_names
from evaluation.suites.sets import (
    TRANSLATION_KIND,
    available,
    line_up,
    read_aligned,
    read_captions,
    read_split,
)
from training.data.settings import DataSettings
from training.data.terms import data_terms

DOCUMENT = Path(__file__).parents[2] / "docs" / "data.md"


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fenced examples, each written to the file that its fence names."""
    folder = tmp_path_factory.mktemp("example")
    for name, text in re.findall(
        r"^```(\S+)\n(.*?)^```$", DOCUMENT.read_text("utf-8"), re.DOTALL | re.MULTILINE
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def test_captions_and_splits_are_read(example: Path) -> None:
    languages = available(example / "photos" / "captions", ".tsv", {"en", "de", "pt"})
    captions = {code: read_captions(example / "photos" / "captions" / f"{code}.tsv") for code in languages}
    splits = {name: read_split(example / "photos" / "splits.tsv", name) for name in ("train", "dev", "test")}
    assert splits["test"] == {"kite-01.jpg"}
    assert {row.image for rows in captions.values() for row in rows} <= set.union(*splits.values())
    texts = line_up(captions, splits["test"])
    assert texts["de"] == [row.text for row in captions["de"] if row.source == TRANSLATION_KIND]


def test_terms_are_read(example: Path) -> None:
    terms = data_terms(example, DataSettings(languages=("en",)))["photos"]
    assert (terms.licence, terms.open, terms.credits) == ("CC BY 4.0", True, ("Ana Lima", "Jens Hansen"))


def test_aligned_sentences_are_read(example: Path) -> None:
    assert len(read_aligned(example / "benchmark" / "harbour", ["en", "de"])["en"]) == 2


def test_names_of_pictograms_are_read(example: Path) -> None:
    folder = example / "pictograms" / "names"
    english, german = (read_names(folder / f"{code}.tsv") for code in ("en", "de"))
    assert english.keys() == german.keys()
    assert german["1f6a4"].captions == ["Schnellboot", "Boot, Schnellboot"]


def test_every_suite_is_documented() -> None:
    document = (DOCUMENT.parent / "evaluation.md").read_text("utf-8")
    assert [name for name in (*SUITES, WORDS) if f"| `{name}" not in document] == []
