"""The token cloze, the contrast of two views and the ceiling's loss, by hand."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.training.step_batches import pairs_by_hand, rows, step_of
from training.data.tokens import MASK_ID, SPECIAL_TOKENS
from training.papers.globetrotter.losses import Cloze, Paired, VisualContrastive, mask_tokens

TEXT = rows(2, 2, 0)


def test_the_mean_surprise_of_the_hidden_tokens() -> None:
    """Two tokens of a vocabulary of three, their shares written out: -(log 1/2 + log 1/5) / 2."""
    logits = torch.tensor([[0.5, 0.25, 0.25], [0.2, 0.2, 0.6]]).log()
    found = Cloze()(step_of(TEXT, cloze=(logits, torch.tensor([0, 1]))))
    assert found.item() == pytest.approx(-(0.5 * (torch.tensor(0.5).log() + torch.tensor(0.2).log())).item())


VOCABULARY = 1000


def tokens(n: int = 400, length: int = 100, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(len(SPECIAL_TOKENS), VOCABULARY, (n, length), generator=generator)


def test_the_shares_are_berts() -> None:
    """40,000 tokens: 15 % are chosen, of those 80 % masked, 10 % random, 10 % as they were."""
    torch.manual_seed(0)
    ids = tokens()
    masked, chosen = mask_tokens(ids, 0.15, VOCABULARY)
    count = int(chosen.sum())
    assert 0.145 < count / ids.numel() < 0.155
    assert 0.78 < (masked[chosen] == MASK_ID).float().mean() < 0.82
    same = masked[chosen] == ids[chosen]
    assert 0.085 < same.float().mean() < 0.115
    random = masked[chosen][~same & (masked[chosen] != MASK_ID)]
    assert 0.085 < len(random) / count < 0.115
    assert random.min() >= len(SPECIAL_TOKENS)
    assert random.max() < VOCABULARY
    assert len(set(random.tolist())) > 300, "random tokens are drawn from the whole vocabulary"


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30), st.floats(0.01, 0.99))
def test_special_tokens_are_never_chosen(row: list[int], share: float) -> None:
    ids = torch.tensor([row])
    before = ids.clone()
    masked, chosen = mask_tokens(ids, share, 21)
    assert not chosen[ids < len(SPECIAL_TOKENS)].any()
    assert torch.equal(masked[ids < len(SPECIAL_TOKENS)], ids[ids < len(SPECIAL_TOKENS)])
    assert torch.equal(ids, before), "the true ids are the labels: they must stay"


@pytest.mark.parametrize("temperature", [0.05, 0.1, 1.0])
def test_equation_1_with_known_pairs_and_equation_3(temperature: float) -> None:
    """A sentence against all but itself, the other view of a picture against all views but itself."""
    one, other = rows(5, 4, 0), rows(5, 4, 1)
    by_hand = pytest.approx(pairs_by_hand(one, other, temperature), rel=1e-9)
    assert Paired(temperature=temperature)(step_of(one, (), partners=other)).item() == by_hand
    assert VisualContrastive(temperature=temperature)(step_of(TEXT, (one, other))).item() == by_hand
