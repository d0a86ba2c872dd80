"""The facts of languages."""

import re

import pytest

from index.languages import LANGUAGE_CODE, has_spaces, is_named, language, languages, lookup, standard_code


def test_codes_are_what_a_bundle_takes_and_rows_are_complete() -> None:
    assert len(languages()) > 100
    for code, found in languages().items():
        assert found.code == code
        assert re.match(LANGUAGE_CODE, code)
        assert re.fullmatch(r"[A-Z][a-z]{3}", found.script)
        assert found.name
        assert found.native
    for name in ("name", "native"):
        assert len({getattr(found, name) for found in languages().values()}) == len(languages())


def test_some_languages() -> None:
    assert language("de").name == "German"
    assert language("de").native == "Deutsch"
    assert language("zh-Hant").script == "Hant"


def test_an_unknown_code_goes_by_itself() -> None:
    assert language("tlh").name == "tlh"


def test_codes_of_the_table_stay_as_they_are() -> None:
    assert {code: standard_code(code) for code in languages()} == {code: code for code in languages()}


@pytest.mark.parametrize(
    ("tag", "wanted"),
    [
        ("EN_us", "en"),
        ("en_GB.UTF-8", "en"),
        ("eng", "en"),
        ("nb", "no"),
        ("nb-NO", "no"),
        ("nn", None),
        ("iw", "he"),
        ("in", "id"),
        ("tl", "fil"),
        ("zh-TW", "zh-Hant"),
        ("zh_HK", "zh-Hant"),
        ("zh-Hant-TW", "zh-Hant"),
        ("zh-Hans-CN", "zh"),
        ("zt", "zh-Hant"),
        ("sr@latin", "sr-Latn"),
        ("sr_RS@latin", "sr-Latn"),
        ("sr_RS.UTF-8@latin", "sr-Latn"),
        ("pt_PT@euro", "pt"),
        ("sr", "sr"),
        ("pt_BR", "pt-BR"),
        ("pb", "pt-BR"),
        ("pt-PT", "pt"),
        ("C", None),
        ("*all*", None),
        ("", None),
        ("x" * 36, None),
    ],
)
def test_a_language_is_found_however_its_code_is_spelled(tag: str, wanted: str | None) -> None:
    known = ["en", "no", "he", "id", "fil", "zh", "zh-Hant", "sr", "sr-Latn", "pt", "pt-BR"]
    assert lookup(tag, known) == wanted


def test_what_is_spelled_the_same_goes_first() -> None:
    assert lookup("tl", ["fil", "tl"]) == "tl"
    assert lookup("fil", ["tl"]) == "tl"


def test_columns_are_languages_that_have_names() -> None:
    assert all(map(is_named, ("en", "pt_BR", "nb", "ind", "zh-TW", "fil", "dag")))
    assert not any(map(is_named, ("text", "may", "url", "source", "qq", "")))


def test_languages_with_and_without_spaces() -> None:
    assert all(map(has_spaces, ("en", "ar", "ko", "vi", "tlh")))
    assert not any(map(has_spaces, ("zh", "zh-Hant", "zh-TW", "yue", "ja", "th", "lo", "km", "my")))
