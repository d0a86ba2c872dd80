"""What a word is, and what its stem."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from training.data.settings import TokenizerSettings
from training.data.tokens import tokenize, train_tokenizer
from training.loop.mining.lexicon import (
    LEAST_OCCURRENCES,
    LEAST_STEMS,
    Stems,
    lexicon,
    spellings,
    stems,
    word_starts,
)


def tokenizer_of(texts: list[str], vocabulary: int) -> Tokenizer:
    tokenizer = train_tokenizer(
        texts, TokenizerSettings(vocabulary=vocabulary), sequence_token=False, max_tokens=64
    )
    tokenizer.no_padding()
    return tokenizer


SCRIPTS = tokenizer_of(
    ["the dogs run. the cats ran! running rungs", "犬が走る。猫も走る。", "हिन्दी में कुत्ता", "12 dogs, 3 cats"],
    200,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The dogs run.", ["▁the", "▁dogs", "▁run", "."]),
        ("12 cats!", ["▁", "1", "2", "▁cats", "!"]),
        ("हिन्दी में", ["▁हिन्दी", "▁में"]),
    ],
)
def test_words_are_whole(text: str, words: list[str]) -> None:
    sentences = tokenize(SCRIPTS, [text] * LEAST_OCCURRENCES)
    listed = lexicon(sentences, *word_starts(SCRIPTS))
    spelled = ["".join(SCRIPTS.id_to_token(int(token)) for token in tokens) for tokens in listed.tokens]
    assert sorted(spelled) == sorted(set(words))
    assert [spelled[number] for number in listed.sequences()[0]] == words


def test_a_script_without_spaces_has_words_of_one_subword() -> None:
    sentences = tokenize(SCRIPTS, ["犬が走る。猫も走る。"] * LEAST_OCCURRENCES)
    assert all(len(tokens) == 1 for tokens in lexicon(sentences, *word_starts(SCRIPTS)).tokens)


WORDS = st.lists(st.sampled_from(["dogs", "cats", "run", "ran", "the"]), min_size=1, max_size=6)


@given(st.lists(WORDS, max_size=12))
def test_words_are_listed_by_frequency(sentences: list[list[str]]) -> None:
    tokens = tokenize(SCRIPTS, [" ".join(words) for words in sentences])
    listed = lexicon(tokens, *word_starts(SCRIPTS))
    assert [len(row) for row in listed.rows] == [len(row) for row in tokens]
    counts = Counter(word for words in sentences for word in words)
    frequent = {word for word, count in counts.items() if count >= LEAST_OCCURRENCES}
    assert len(listed) == len(frequent)
    assert (np.diff(listed.rarity) >= 0).all()
    known = [bool((row < len(listed)).any()) for row in listed.rows]
    assert known == [not frequent.isdisjoint(words) for words in sentences]


def stems_of(lines: list[str]) -> Stems:
    return stems(tokenize(SCRIPTS, lines), *word_starts(SCRIPTS), spellings(SCRIPTS))


def test_inflected_words_have_a_common_stem() -> None:
    found = stems_of(["running runnings", "running", "rungs"] * LEAST_STEMS)
    assert len({number for row in found.rows[:2] for number in row.tolist()}) == 1
    assert set(found.rows[0].tolist()).isdisjoint(found.rows[2].tolist())


def test_each_word_of_a_stem_is_listed_with_it() -> None:
    found = stems_of(["running runnings", "running rungs", "runnings rungs"])
    spelled = ["".join(SCRIPTS.id_to_token(int(token)) for token in tokens) for tokens in found.tokens]
    by_stem = dict(zip(spelled, found.of_words.tolist(), strict=True))
    assert set(by_stem) == {"▁running", "▁runnings", "▁rungs"}
    assert by_stem["▁running"] == by_stem["▁runnings"] != by_stem["▁rungs"]
    assert by_stem["▁rungs"] == found.rows[1][-1]


def test_punctuation_and_rare_words_have_no_stem() -> None:
    found = stems_of(["the dogs run."] * LEAST_STEMS + ["the cats ran!"])
    assert len(found.rarity) == 3, "the, dogs, run"
    assert found.rows[0][-1] == len(found.rarity), "the full stop"
    known = found.rows[-1][found.rows[-1] < len(found.rarity)]
    assert (known == found.rows[0][0]).all(), "of the last sentence only the article is frequent"
    assert found.rarity.argmin() == found.rows[0][0]


def test_what_the_tokenizer_cannot_spell_is_no_word() -> None:
    assert len(stems_of(["жук жаба"] * LEAST_STEMS).rarity) == 0
