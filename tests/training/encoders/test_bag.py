import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.training.step_batches import embed
from training.data.tokens import pad
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


@given(sentences)
def test_packed_sentences_are_the_same(tokens: list[list[int]]) -> None:
    for layer in BAG.encode_layers(*pad([np.asarray(row, np.int32) for row in tokens], CPU)):
        assert torch.allclose(layer.detach(), embed(BAG, tokens), atol=1e-6)


@given(sentences)
def test_it_is_the_mean_of_the_token_embeddings(tokens: list[list[int]]) -> None:
    table = BAG.tokens.weight.detach().numpy()
    means = np.stack([table[row].mean(axis=0) for row in tokens])
    assert np.allclose(embed(BAG, tokens).numpy(), means, atol=1e-7)


@given(sentences, st.integers(1, 8))
def test_padding_changes_nothing(tokens: list[list[int]], pads: int) -> None:
    assert torch.allclose(embed(BAG, tokens, pads), embed(BAG, tokens), atol=1e-7)


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


def test_no_embedding_ends_longer_than_the_median() -> None:
    model, plain = encoder(bound_norms=True), encoder()
    before = model.tokens.weight.detach().clone()
    for each in (model, plain):
        each.conclude()
    assert torch.equal(plain.tokens.weight, before)
    after, norms = model.tokens.weight.detach(), before.norm(dim=1)
    is_long = norms > norms.median()
    assert torch.equal(after[~is_long], before[~is_long])
    assert torch.allclose(after[is_long], before[is_long] * (norms.median() / norms[is_long])[:, None])
