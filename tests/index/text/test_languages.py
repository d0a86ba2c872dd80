"""The table of languages."""

import re

import pytest

from index.storage.manifest import LANGUAGE_CODE
from index.text.languages import language, languages

PHOTO_LANGUAGES = "en de pt zh ar tr fr cs hi es uk nl"


def test_codes_are_what_a_bundle_takes_and_rows_are_complete() -> None:
    assert len(languages()) > 100
    for code, found in languages().items():
        assert found.code == code
        assert re.match(LANGUAGE_CODE, code)
        assert re.fullmatch(r"[A-Z][a-z]{3}", found.script)
        assert found.name
        assert found.native
        assert found.family


@pytest.mark.parametrize("code", PHOTO_LANGUAGES.split())
def test_the_languages_of_the_photographs_are_there(code: str) -> None:
    assert code in languages()


def test_names_are_not_given_twice() -> None:
    for names in (
        [found.name for found in languages().values()],
        [found.native for found in languages().values()],
    ):
        assert len(set(names)) == len(names)


def test_some_languages() -> None:
    assert language("de").name == "German"
    assert language("de").native == "Deutsch"
    assert language("zh-Hant").script == "Hant"
    assert language("qu").family == "Quechuan"


def test_an_unknown_code_goes_by_itself() -> None:
    assert language("tlh").name == "tlh"
