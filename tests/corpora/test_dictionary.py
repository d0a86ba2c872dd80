"""The shipped dictionaries: clean single words, each entry once, for the same English words."""

import unicodedata
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "corpora" / "dictionary"


def entries(path: Path) -> list[tuple[str, str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(source, target) for source, target in (line.split("\t") for line in lines)]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.tsv")), ids=lambda path: path.stem)
def test_every_entry_is_two_clean_words_and_there_once(path: Path) -> None:
    found = entries(path)
    assert len(set(found)) == len(found) > 500
    for word in {word for entry in found for word in entry}:
        assert unicodedata.is_normalized("NFC", word)
        assert word.replace("-", "").replace("'", "").isalpha(), word


def test_the_dictionaries_ask_for_the_same_words_in_the_same_order() -> None:
    german, french = (
        list(dict.fromkeys(word for word, _ in entries(FOLDER / f"en-{code}.tsv"))) for code in ("de", "fr")
    )
    assert [word for word in german if word in french] == french
