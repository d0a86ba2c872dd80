"""Indexes that releases made: each opens, answers and can be changed, or is refused with FormatError.

A file of `released/` is an index of nine sentences of tests/bundles.py in en and de, made by that version.
"""

import tarfile
from pathlib import Path

import pytest

from index.answers.translator import Translator
from index.build.changes import change_index
from index.errors import FormatError
from index.storage.versions import open_version
from tests.bundles import sentences

RELEASED = sorted((Path(__file__).parent / "released").glob("*.tar.xz"))


@pytest.fixture(params=RELEASED, ids=lambda path: path.name.removesuffix(".tar.xz"))
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    with tarfile.open(request.param) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


def test_an_index_of_every_release_opens_and_answers_or_says_that_it_is_too_old(index: Path) -> None:
    try:
        open_version(index, fresh=True)
    except FormatError:
        return
    for row, text in enumerate(sentences("en")[::160]):
        (found,) = Translator.open(index).sentences([text], "en", "de")[0]
        assert found.text == sentences("de")[row * 160]
        assert found.confidence == 1


def test_an_index_of_every_release_can_be_changed_or_says_that_it_is_too_old(index: Path) -> None:
    try:
        made = change_index(index, delete=["en:3"])
    except FormatError:
        return
    assert made.languages["en"].sentences == 8
    assert made.languages["en"].dropped["deleted"] == 1


def test_there_is_an_index_of_a_release() -> None:
    assert RELEASED
