"""Vocabularies of word forms, and what their embeddings begin as."""

import numpy as np
import pytest
from tokenizers import Tokenizer

from training.data.captions import CaptionedPictures
from training.data.settings import TokenizerSettings
from training.data.tokens import SPECIAL_TOKENS, UNKNOWN_ID, tokenize, train_tokenizer
from training.data.training_data import TrainingData
from training.papers.mule.word_vectors import initial_word_vectors

TEXTS = ["A dog runs, on the beach.", "Ein Hund rennt am Strand!", "狗在沙滩上跑。", "كلب على الشاطئ."] * 3
SETTINGS = TokenizerSettings(kind="words", vocabulary=200)
WORDS = train_tokenizer([*TEXTS, "once"], SETTINGS, sequence_token=False, max_tokens=8)


def spelled(text: str) -> list[str]:
    (row,) = tokenize(WORDS, [text])
    return [WORDS.id_to_token(int(number)) or "" for number in row]


def test_words_are_whole_and_punctuation_is_not_there() -> None:
    assert spelled("The DOG, runs!") == ["the", "dog", "runs"]
    assert spelled("كلب على الشاطئ") == ["كلب", "على", "الشاطئ"]
    assert [WORDS.token_to_id(token) for token in SPECIAL_TOKENS] == [0, 1, 2, 3]


def test_a_script_without_spaces_has_a_character_a_word() -> None:
    assert spelled("狗跑 dog跑") == ["狗", "跑", "dog", "跑"]


def test_what_came_once_or_never_is_unknown_and_nothing_is_too() -> None:
    assert spelled("once upon a dog") == ["<unk>", "<unk>", "a", "dog"]
    assert [row.tolist() for row in tokenize(WORDS, ["!?", ""])] == [[UNKNOWN_ID]] * 2


def test_the_file_carries_it_all_and_long_texts_are_cut() -> None:
    again = Tokenizer.from_str(WORDS.to_str())
    text = "A dog runs 狗在沙滩上跑 and more"
    assert again.encode(text).ids == WORDS.encode(text).ids
    assert len(again.encode(text).ids) == 8


def test_words_of_sentences_begin_alike_where_they_stand_alike() -> None:
    sentences = {"en": tokenize(WORDS, TEXTS[::4]), "de": tokenize(WORDS, TEXTS[1::4])}
    given = TrainingData(("en", "de"), 0, WORDS, CaptionedPictures((), ()), [], sentences=sentences)
    english, german = initial_word_vectors(given, 3)
    dog, hund, beach = (WORDS.token_to_id(word) for word in ("dog", "hund", "beach"))
    assert english[dog].any()
    assert not english[hund].any(), "a language begins with its own words only"
    assert german[hund].any()
    lengths = np.linalg.norm(english, axis=1)
    assert lengths[lengths > 0].mean() == pytest.approx(1)
    assert english.shape == german.shape == (WORDS.get_vocab_size(), 3)
    assert english[beach].any()
