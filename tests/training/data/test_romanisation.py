"""Letters of other scripts read as Latin ones, by the tokenizer itself."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers.normalizers import NFKC, Lowercase, Normalizer, Sequence

from training.data.romanisation import romanised
from training.data.settings import Script, TokenizerSettings
from training.data.tokens import tokenize, train_tokenizer

BOTH: tuple[Script, ...] = ("Cyrillic", "Devanagari")


def normaliser(*scripts: Script, lowercase: bool = True) -> Normalizer:
    first: list[Normalizer] = [NFKC(), Lowercase()] if lowercase else [NFKC()]
    return Sequence([*first, *romanised(scripts, lowercase=lowercase)])


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Чорний собака біжить", "čornyj sobaka bižyt"),
        ("червона щука їсть", "červona ščuka jist"),
        ("फुटबॉल", "futbol"),
        ("ज़ेबरा और फ़ोन", "zebra aur fon"),
        ("एक लड़का।", "ek lrka."),
        ("A dog; Ein Hündchen; 狗; كلب", "a dog; ein hündchen; 狗; كلب"),
    ],
)
def test_a_text_is_read_as_it_sounds(text: str, read: str) -> None:
    assert normaliser(*BOTH).normalize_str(text) == read


@given(st.text(st.characters(max_codepoint=0x2FF)))
@example("c\u02bchoazh")
@example("\u0149")  # NFKC: the apostrophe, and n
def test_latin_text_stays_except_the_apostrophe_that_ukrainian_uses(text: str) -> None:
    apostrophe = "\u02bc"
    assert normaliser(*BOTH).normalize_str(text) == normaliser().normalize_str(text).replace(apostrophe, "")


def test_two_languages_share_the_subwords_of_what_they_call_alike() -> None:
    texts = ["voda je čistá", "вода чиста"] * 3
    settings = TokenizerSettings(vocabulary=200, romanise=("Cyrillic",))
    learned = train_tokenizer(texts, settings, sequence_token=False, max_tokens=16)
    czech, ukrainian = tokenize(learned, ["voda", "Вода"])
    assert czech.tolist() == ukrainian.tolist()
    apart = train_tokenizer(texts, TokenizerSettings(vocabulary=200), sequence_token=False, max_tokens=16)
    assert not set(tokenize(apart, ["voda"])[0]) & set(tokenize(apart, ["вода"])[0])
