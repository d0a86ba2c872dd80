"""Dictionaries: every word with what the index answers, in a file that is there when it is complete."""

from pathlib import Path

import pytest

from index.answers.translator import Translator
from index.commands.export import DICTIONARY_COLUMNS, export_dictionary, split_pair
from index.errors import UsageError
from passepartout import run
from tests.bundles import lexicon


def lines(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text("utf-8").splitlines()]


def test_every_word_has_its_translation(index_dir: Path, tmp_path: Path) -> None:
    assert export_dictionary(index_dir, "en-de", tmp_path / "x.tsv") == len(lines(tmp_path / "x.tsv")) - 1
    head, *found = lines(tmp_path / "x.tsv")
    assert tuple(head) == DICTIONARY_COLUMNS
    known = {concept["en"]: concept["de"] for concept in lexicon()}
    right = [known[word] == translation for word, translation, *_ in found if word in known]
    assert len(right) == len(known)
    assert sum(right) / len(right) > 0.9
    counts = [int(count) for *_, count in found]
    assert counts == sorted(counts, reverse=True)
    assert [word for word, *_ in found] == [word for word, _ in Translator.open(index_dir).vocabulary("en")]


def test_the_command_writes_several_translations(
    index_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["index", "export", str(index_dir), "--dictionary", "zh-pt", "-k", "3"]
    assert run([*given, "--out", str(tmp_path / "x.tsv")]) == 0
    found = lines(tmp_path / "x.tsv")[1:]
    assert f"{len(found)} translations" in capsys.readouterr().out
    assert len(found) == 3 * len({word for word, *_ in found})


@pytest.mark.parametrize("pair", ["en-fr", "en", "en-en", "../en-de"])
def test_an_unknown_pair_is_refused(index_dir: Path, tmp_path: Path, pair: str) -> None:
    with pytest.raises(UsageError, match=r"no dictionary '.*'; there are: .*en-de"):
        export_dictionary(index_dir, pair, tmp_path / "x.tsv")
    assert not list(tmp_path.iterdir())


def test_pairs_of_codes_with_scripts_are_split_correctly(index_dir: Path) -> None:
    assert split_pair("zh-ar", Translator.open(index_dir)) == ("zh", "ar")


def test_a_place_that_cannot_be_written(index_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        export_dictionary(index_dir, "en-de", tmp_path / "nowhere" / "x.tsv")
