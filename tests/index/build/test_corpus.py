"""Which languages a file's sentences are in, however the file and the command line spell them."""

from pathlib import Path

import pytest

from index.build.corpus import Corpus
from index.errors import UnknownLanguageError
from index.formats.registry import Source

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


def test_a_catalogue_without_a_language_is_read_with_english(tmp_path: Path) -> None:
    (tmp_path / "x.po").write_text('msgid "A dog"\nmsgstr "Ein Hund"\n')
    assert languages(Source(tmp_path / "x.po", "de")) == [("A dog", "en"), ("Ein Hund", "de")]
