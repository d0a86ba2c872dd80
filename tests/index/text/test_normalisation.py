"""Cleaning and segmentation: the same for training, index and service."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.text.normalisation import as_encoded, bare, clean, lowered, words


@pytest.mark.parametrize(
    ("line", "cleaned"),
    [
        ("  A dog\t runs \r\n", "A dog runs"),
        ("cafe\u0301", "café"),
        ("a\x00b\x07c", "abc"),
        ("\ufeffdog", "dog"),
        ("\u202edog\u202c \u200e", "dog"),
        ("soft\u00adware", "software"),
        ("no\u00a0break\u2009here\u3000too", "no break here too"),
        ("a \u200b b", "a b"),
        ("می\u200cرود", "می\u200cرود"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("lone \ud800 half", "lone half"),
        ("\x1c\x1d", ""),
    ],
)
def test_clean(line: str, cleaned: str) -> None:
    assert clean(line) == cleaned


@given(st.text(st.characters()))
def test_cleaning_twice_is_cleaning_once(line: str) -> None:
    once = clean(line)
    assert clean(once) == once
    assert once == once.strip()
    assert unicodedata.is_normalized("NFC", once)
    assert not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in once)
    once.encode("utf-8")


def test_a_long_run_of_marks_is_parted_before_it_is_sorted() -> None:
    # 20 minutes where the whole run is sorted by insertion.
    once = clean("a" + "\u0300" * 250_000 + "\u0316" * 250_000)
    assert once.replace("\u034f", "").count("\u0316") == 250_000
    assert clean(once) == once
    assert clean("a" + "\u0300" * 20 + "\u0316") == "à\u0316" + "\u0300" * 19


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Is this a dog?", "Is this a dog"),
        ("¿Un perro? «Sí»…", "Un perro Sí"),
        ("'The dog's' T-shirt", "The dog's T shirt"),
        ("l’homme", "l'homme"),
        ("狗在海滩上奔跑。猫，也", "狗在海滩上奔跑 猫 也"),
        ("هل هذا كلب؟", "هل هذا كلب"),
        ("`50 %` + 👩\u200d👧", "50 + 👩\u200d👧"),
        ("?!", ""),
    ],
)
def test_bare_texts_have_no_punctuation(text: str, left: str) -> None:
    assert bare(text) == left


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Is this a dog?", "Is this a dog ?"),
        ("«¿Un perro?», dice.", "Un perro dice ?"),
        ("هل هذا كلب؟", "هل هذا كلب ?"),
        ("Πονάει;", "Πονάει ?"),
        ("This is a dog; it barks!", "This is a dog it barks"),
        ("?!", ""),
    ],
)
def test_of_all_punctuation_the_encoder_reads_that_a_text_asks(text: str, read: str) -> None:
    assert as_encoded(text) == read


@given(st.text(st.characters()), st.text(st.sampled_from(' .!,:;…¿。،।"“„»)-'), max_size=3))
def test_punctuation_that_does_not_ask_changes_nothing(line: str, end: str) -> None:
    text = clean(line)
    assert bare(text + end) == bare(text) == bare(bare(text))
    assert as_encoded(clean("a " + text + " a" + end)) == as_encoded(clean("a " + text + " a"))


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("A dog, running (fast)!", "en", ["a", "dog", "running", "fast"]),
        ("The dog's ball doesn't roll.", "en", ["the", "dog", "ball", "doesn't", "roll"]),
        ("The dog’s well-known T-shirt", "en", ["the", "dog", "well", "known", "t", "shirt"]),
        ("L'homme qu’il voit aujourd'hui", "fr", ["l'", "homme", "qu'", "il", "voit", "aujourd'hui"]),
        ("dell'acqua", "it", ["dell'", "acqua"]),
        ("Ein Hund läuft über 3,5 km.", "de", ["ein", "hund", "läuft", "über", "3,5", "km"]),
        ("狗在海滩上奔跑。", "zh", ["狗", "在", "海滩", "上", "奔跑"]),
        ("犬が走る。", "ja", ["犬", "が", "走る"]),
        ("สุนัขวิ่งบนชายหาด", "th", ["สุนัข", "วิ่ง", "บน", "ชายหาด"]),
        ("كلب يركض.", "ar", ["كلب", "يركض"]),
        ("एक कुत्ता दौड़ता है।", "hi", ["एक", "कुत्ता", "दौड़ता", "है"]),
        ("— … ! 🐕 ☃", "en", []),
        ("", "en", []),
    ],
)
def test_words(text: str, language: str, expected: list[str]) -> None:
    assert words(text, language) == [unicodedata.normalize("NFC", word) for word in expected]


@given(st.text(max_size=80), st.sampled_from(["en", "fr", "zh", "th", "ar", "zh-Hant", "kk-Arab"]))
def test_words_hold_a_letter_or_digit_and_no_space(text: str, language: str) -> None:
    for word in words(text, language):
        assert any(character.isalnum() for character in word)
        assert not any(character.isspace() for character in word)


@given(st.text("aBz.,!?'-é7", max_size=6), st.sampled_from(["en", "fr", "it", "zh", "th"]))
def test_a_piece_has_the_words_that_it_has_in_a_sentence(piece: str, language: str) -> None:
    assert words(piece, language) == words(f"\N{DOG} {piece}", language)


@given(st.text())
def test_lower_case_is_as_long(text: str) -> None:
    assert len(lowered(text)) == len(lowered(text, "tr")) == len(text)


def test_an_i_keeps_its_dot_or_has_none() -> None:
    assert words("IŞIĞA BAKIN, İKİ", "tr") == ["ışığa", "bakın", "iki"]
    assert words("İstanbul IS", "en") == ["istanbul", "is"]
