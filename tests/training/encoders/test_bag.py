from random import Random

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tests.training.encoders.sentences import spoken
from training.data.tokens import PAD_ID, pad
from training.encoders.bag import Bag, BagSettings

CPU = torch.device("cpu")
VOCABULARY, WIDTH = 40, 8
sentences = st.lists(
    st.lists(st.integers(4, VOCABULARY - 1), min_size=1, max_size=12), min_size=1, max_size=5
)


def encoder(**settings: object) -> Bag:
    """Seeded and not training."""
    torch.manual_seed(0)
    table = {"encoder": "bag", "width": WIDTH, **settings}
    return BagSettings.model_validate(table).build(VOCABULARY, 1).eval()


BAG = encoder()


@torch.no_grad()
def embed(model: Bag, tokens: list[list[int]], pads: int = 0) -> Tensor:
    ids, mask = pad([np.asarray(row, dtype=np.int32) for row in tokens], CPU)
    more = torch.full((len(ids), pads), PAD_ID)
    out: Tensor = model(torch.cat([ids, more], dim=1), torch.cat([mask, torch.zeros_like(more)], dim=1))
    return out


@given(sentences)
def test_it_is_the_mean_of_the_token_embeddings(tokens: list[list[int]]) -> None:
    table = BAG.tokens.weight.detach().numpy()
    means = np.stack([table[row].mean(axis=0) for row in tokens])
    assert np.allclose(embed(BAG, tokens).numpy(), means, atol=1e-7)


@given(sentences, st.integers(1, 8))
def test_padding_changes_nothing(tokens: list[list[int]], pads: int) -> None:
    assert torch.allclose(embed(BAG, tokens, pads), embed(BAG, tokens), atol=1e-7)


@given(sentences)
def test_a_batch_equals_its_parts(tokens: list[list[int]]) -> None:
    apart = torch.cat([embed(BAG, [row]) for row in tokens])
    assert torch.allclose(embed(BAG, tokens), apart, atol=1e-7)


@given(sentences, st.randoms(use_true_random=False))
def test_the_order_of_words_does_not_matter(tokens: list[list[int]], random: Random) -> None:
    mixed = [random.sample(row, len(row)) for row in tokens]
    assert torch.allclose(embed(BAG, mixed), embed(BAG, tokens), atol=1e-7)


def test_token_dropout_leaves_tokens_out_while_training_alone() -> None:
    model = encoder(token_dropout=0.5, dropout=0.0).train()
    torch.manual_seed(1)
    tokens = [[5, 6]] * 400
    found = embed(model, tokens)
    table = model.tokens.weight.detach()
    possible = torch.stack([torch.zeros(WIDTH), table[5], table[6], (table[5] + table[6]) / 2])
    matches = (found[:, None] - possible).abs().amax(dim=2) < 1e-7
    assert matches.any(dim=1).all(), "a token is in the mean with its full weight, or not at all"
    assert all(60 < count < 140 for count in matches.sum(dim=0).tolist()), "each of the four about 100 times"
    model.eval()
    assert torch.allclose(embed(model, tokens[:1]), possible[3:], atol=1e-7)


def test_a_sentence_whose_tokens_are_all_left_out_is_finite() -> None:
    model = encoder(token_dropout=0.99, dropout=0.0).train()
    torch.manual_seed(1)
    ids, mask = pad([np.asarray([5], dtype=np.int32)] * 50, CPU)
    found = torch.nn.functional.normalize(model(ids, mask), dim=-1)
    found.sum().backward()  # type: ignore[no-untyped-call]
    assert model.tokens.weight.grad is not None
    assert torch.isfinite(model.tokens.weight.grad).all()


def test_the_initial_scale_is_the_recipes() -> None:
    assert abs(encoder(width=256, initial_scale=0.3).tokens.weight.std().item() - 0.3) < 0.02


# Tokens 4 to 11 are more often the first language's, 12 to 19 the second's; 20 to 23 are in both alike.
SPOKEN = [np.arange(4, 12), np.arange(12, 20), np.arange(20, 24), np.arange(20, 24)]


def apart() -> Bag:
    torch.manual_seed(0)
    model = BagSettings.model_validate({"encoder": "bag", "width": WIDTH, "embeddings": "per-language"})
    built = model.build(VOCABULARY, 2).eval()
    built.initialise(spoken(SPOKEN, [0, 1, 0, 1]))
    return built


def test_apart_a_token_has_an_embedding_in_each_language() -> None:
    model = apart()
    table = model.tokens.weight.detach()
    assert table.shape == (2 * VOCABULARY, WIDTH)
    found = embed(model, [[5, 20], [13, 20]])
    first, second = table[[5, 20]], table[[VOCABULARY + 13, VOCABULARY + 20]]
    assert torch.allclose(found, torch.stack([first.mean(dim=0), second.mean(dim=0)]), atol=1e-7)


def test_apart_one_language_learns_nothing_for_another() -> None:
    model = apart()
    ids, mask = pad([np.array([5, 20], np.int32)], CPU)
    model(ids, mask).sum().backward()
    assert model.tokens.weight.grad is not None
    assert model.tokens.weight.grad[:VOCABULARY].any()
    assert not model.tokens.weight.grad[VOCABULARY:].any()


def test_the_table_of_words_is_all_there_is() -> None:
    assert BAG.word_table().shape == (VOCABULARY, WIDTH)
    model = apart()
    assert model.word_table().shape == (2, VOCABULARY, WIDTH)
    assert torch.equal(model.word_table()[1, 5], model.tokens.weight[VOCABULARY + 5])


def test_shared_tokens_have_one_embedding_for_both_languages() -> None:
    model = apart()
    model.rows[20] = 20
    first, second = embed(model, [[5, 20]])[0], embed(model, [[13, 20]])[0]
    table = model.tokens.weight.detach()
    assert torch.allclose(first, (table[5] + table[20]) / 2, atol=1e-7)
    assert torch.allclose(second, (table[VOCABULARY + 13] + table[20]) / 2, atol=1e-7)
    assert torch.equal(model.word_table()[1, 20], table[20])
    again = apart()
    again.load_state_dict(model.state_dict())
    assert torch.equal(again.rows, model.rows), "part of the checkpoint"
