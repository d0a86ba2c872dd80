"""Merges that are added to a vocabulary."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from training.data.settings import TokenizerSettings
from training.data.tokens import SPECIAL_TOKENS, train_tokenizer
from training.data.vocabulary_extension import MOST_TOKENS, grown_vocabulary

CAPTIONS = ["a bicycle stands beside a wall", "two children ride a bicycle", "the bicycles are red"] * 3
SPOKEN = ["where is the railway station", "the railway is late", "a railway beside the station", "☃ ☃"] * 5


SETTINGS = TokenizerSettings(vocabulary=200)
BEFORE = train_tokenizer(CAPTIONS, SETTINGS, sequence_token=False, max_tokens=64)
AFTER = grown_vocabulary(BEFORE, SPOKEN, 100)


def test_words_of_the_texts_are_told_in_fewer_tokens() -> None:
    assert len(BEFORE.encode("railway").tokens) > 1
    assert AFTER.encode("railway").tokens == ["▁railway"]
    assert BEFORE.get_vocab_size() < AFTER.get_vocab_size() <= BEFORE.get_vocab_size() + 100


def test_what_was_there_keeps_its_number() -> None:
    vocabulary = AFTER.get_vocab()
    assert all(vocabulary[token] == number for token, number in BEFORE.get_vocab().items())
    assert [AFTER.id_to_token(number) for number in range(len(SPECIAL_TOKENS))] == list(SPECIAL_TOKENS)


def uncut(tokenizer: Tokenizer) -> Tokenizer:
    copy = Tokenizer.from_str(tokenizer.to_str())
    copy.no_truncation()
    return copy


WORDS = ["a", "the", "railway", "railways", "bicycle", "station", "stationed", "ride", "red", "late"]


@given(st.lists(st.sampled_from(WORDS), max_size=10))
def test_tokens_are_joined_and_never_divided_otherwise(words: list[str]) -> None:
    text = " ".join(words)
    before, after = (uncut(tokenizer).encode(text) for tokenizer in (BEFORE, AFTER))
    assert {end for _, end in after.offsets} <= {end for _, end in before.offsets}
    assert "".join(after.tokens) == "".join(before.tokens)


def test_in_a_script_without_spaces_a_token_is_no_longer_than_a_word() -> None:
    lines = ["女孩在公园里骑自行车", "男孩在公园里骑自行车"] * 6
    base = train_tokenizer(list(lines[0] + lines[1]), SETTINGS, sequence_token=False, max_tokens=64)
    added = set(grown_vocabulary(base, lines, 50).get_vocab()) - set(base.get_vocab())
    assert {"女孩", "公园"} <= added
    assert not any("公园里" in token for token in added)


def test_more_tokens_than_can_be_told_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="can be told apart"):
        grown_vocabulary(BEFORE, SPOKEN, MOST_TOKENS)
