import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from training.data.subword_dropout import RespelledCaptions, Speller, pieces
from training.data.tokens import UNKNOWN_ID, tokenize, train_tokenizer
from training.recipes.settings import TokenizerSettings

TEXTS = [
    "A red ball lies on the green grass.",
    "Ein roter Ball liegt im grünen Gras, 12 Bälle.",
    "Uma bola vermelha na grama verde!",
    "The red balls and the greener grasses",
]


def trained(*, sequence_token: bool = True, max_tokens: int = 40) -> Tokenizer:
    settings = TokenizerSettings(vocabulary=200)
    return train_tokenizer(TEXTS * 3, settings, sequence_token=sequence_token, max_tokens=max_tokens)


TOKENIZER = trained()


@pytest.mark.parametrize("sequence_token", [True, False])
@pytest.mark.parametrize("max_tokens", [5, 40])
def test_without_dropout_it_is_the_tokenizer_itself(sequence_token: bool, max_tokens: int) -> None:
    tokenizer = trained(sequence_token=sequence_token, max_tokens=max_tokens)
    texts = [*TEXTS, "", "an unknown ☃ sign"]
    found = RespelledCaptions(tokenizer, texts, 0.0, seed=1)
    expected = tokenize(tokenizer, texts)
    assert [row.tolist() for row in found] == [row.tolist() for row in expected]


@given(st.text(alphabet="redbalgsnükt▁☃", max_size=12))
def test_the_speller_without_dropout_is_the_tokenizer_on_any_word(word: str) -> None:
    word = "▁" + word.replace("▁", "")
    expected = TOKENIZER.encode(word.replace("▁", ""), add_special_tokens=False).ids
    speller = Speller(TOKENIZER, 0.0, 0)
    found = [token for piece in pieces(TOKENIZER, word.replace("▁", "")) for token in speller.spell(piece)]
    assert found == expected


@given(st.floats(0, 0.999), st.integers(0, 100))
def test_however_it_is_spelled_it_is_the_same_text(share: float, seed: int) -> None:
    speller = Speller(TOKENIZER, share, seed)
    vocabulary = {number: token for token, number in TOKENIZER.get_vocab().items()}
    for piece in pieces(TOKENIZER, TEXTS[1]):
        assert "".join(vocabulary[token] for token in speller.spell(piece)) == piece


def test_more_dropout_more_tokens() -> None:
    respelled = [RespelledCaptions(TOKENIZER, TEXTS, share, seed=0) for share in (0, 0.3, 0.99)]
    lengths = [sum(map(len, captions)) for captions in respelled]
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[1] < lengths[2]
    characters = sum(len(piece) for text in TEXTS for piece in pieces(TOKENIZER, text))
    assert lengths[2] > 0.9 * characters


def test_an_epoch_spells_anew_and_the_same_epoch_alike() -> None:
    one, other = (RespelledCaptions(TOKENIZER, TEXTS, 0.5, seed=3) for _ in range(2))
    spelled = []
    for epoch in range(4):
        one.epoch = other.epoch = epoch
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
        assert np.array_equal(one[2], one[2])
        spelled.append(tuple(one[0].tolist()))
    assert len(set(spelled)) > 1
    assert not np.array_equal(RespelledCaptions(TOKENIZER, TEXTS, 0.5, seed=4)[0], spelled[0])


def test_a_caption_without_tokens_is_unknown() -> None:
    tokenizer = trained(sequence_token=False)
    assert RespelledCaptions(tokenizer, [""], 0.1, seed=0)[0].tolist() == [UNKNOWN_ID]
