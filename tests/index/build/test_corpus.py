"""What a corpus makes of its files: languages, however they are spelled, and metadata; files that change."""

import json
import shutil
from pathlib import Path

import pytest

from index.build.corpus import Corpus, metadata_of
from index.errors import CorpusError, UnknownLanguageError
from index.formats.registry import Source
from index.formats.sentence import Sentence

VARIANT = '<tuv xml:lang="{0}"><seg>{0}</seg></tuv>'
KNOWN = ["en", "de", "no", "zh", "zh-Hant"]


def languages(source: Source) -> list[tuple[str, str]]:
    return [(sentence.text, sentence.language) for _, sentence in Corpus([source], KNOWN, "m").sentences()]


def test_codes_of_a_file_are_found_in_any_spelling(tmp_path: Path) -> None:
    codes = ("en-US", "zh-TW", "nb_NO", "zh-CN", "ja", "qaa", "xx")
    path = tmp_path / "x.tmx"
    path.write_text(f"<tmx><body><tu>{''.join(map(VARIANT.format, codes))}</tu></body></tmx>")
    assert languages(Source(path)) == [
        ("en-US", "en"),
        ("zh-TW", "zh-Hant"),
        ("nb_NO", "no"),
        ("zh-CN", "zh"),
        ("ja", "ja"),  # not known, but aligned with what is: a target
        ("qaa", "qaa"),
    ]


def test_a_code_that_is_given_may_be_spelled_otherwise(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("En hund.\n")
    assert languages(Source(tmp_path / "x.txt", "nb")) == [("En hund.", "no")]
    with pytest.raises(UnknownLanguageError, match="'ja'"):
        Corpus([Source(tmp_path / "x.txt", "ja")], KNOWN, "m")


@pytest.mark.parametrize(
    ("content", "said"),
    [("", "empty: give a"), ("en\n", "empty: give a"), ("ja\nA\n", "nothing in a language")],
)
def test_a_file_without_sentences_is_called_empty(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "x.csv").write_text(content)
    with pytest.raises(CorpusError, match=rf"x\.csv: {said}"):
        languages(Source(tmp_path / "x.csv"))


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    """Even if it is put back with its times, as by cp -p."""
    path, kept = tmp_path / "x.txt", tmp_path / "kept.txt"
    path.write_text("En hund.\n" * 20_000)
    shutil.copy2(path, kept)
    sentences = Corpus([Source(path, "no")], KNOWN, "m").sentences()
    next(sentences)
    path.write_text("Et hus.\n" * 20_000)
    shutil.copy2(kept, path)
    with pytest.raises(CorpusError, match=r"x\.txt: it was changed while it was read: repeat the command"):
        list(sentences)


def test_a_column_does_not_replace_the_name_of_its_file() -> None:
    sentence = Sentence("1", "Hei.", "no", 1, {"file": "other.txt", "by": "Ann"})
    assert json.loads(metadata_of("x.txt", sentence)) == {
        "file": "x.txt",
        "original_file": "other.txt",
        "by": "Ann",
    }
