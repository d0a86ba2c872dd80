"""SMALR's masked losses: eq. 2 by hand, where its gradient leads, hidden words."""

import math

import pytest
import torch
import torch.nn.functional as F

from tests.training.step_batches import rows, step_of
from training.papers.smalr.masked_cross_language import (
    MaskedCrossLanguage,
    MaskedPairs,
    hide_words,
)

UP, RIGHT = (0.0, 1.0), (1.0, 0.0)
UNUSED = torch.zeros(1, 2, dtype=torch.float64)


def layer(
    told: list[tuple[float, float]], whole: list[tuple[float, float]]
) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor(told, dtype=torch.float64), torch.tensor(whole, dtype=torch.float64)


def test_it_is_the_distance_of_both_sentences_summed() -> None:
    # One pair at two layers: √2 and 0 apart at the first, 2 and √2 at the second; the mean over the layers.
    first = layer([UP, UP], [RIGHT, UP])
    second = layer([UP, RIGHT], [(0.0, -1.0), UP])
    found = MaskedCrossLanguage()(step_of(UNUSED, (UNUSED,), completed=(*first, *second)))
    assert found.item() == pytest.approx((math.sqrt(2) + 0 + 2 + math.sqrt(2)) / 2)


def test_masked_words_are_predicted_from_both_sentences() -> None:
    torch.manual_seed(0)
    pairs = MaskedPairs(3)
    one, other = rows(4, 3, 0).float(), rows(4, 3, 1).float()
    told = pairs(one, other)
    by_hand = torch.cat([one, other], dim=1)
    by_hand = by_hand + by_hand @ pairs.missing.weight.T + pairs.missing.bias
    torch.testing.assert_close(told[:4], F.normalize(by_hand[:, :3], dim=1))
    torch.testing.assert_close(told[4:], F.normalize(by_hand[:, 3:], dim=1))
    assert not torch.allclose(told[:4], pairs(one, rows(4, 3, 2).float())[:4]), "the other one matters"


def test_a_fifth_of_the_words_is_hidden_and_never_all() -> None:
    torch.manual_seed(0)
    ids = torch.randint(4, 90, (2000, 10))
    ids[:, 0] = 2
    mask = torch.ones_like(ids)
    mask[:1000, 5:] = 0
    hidden, kept = hide_words(ids, mask, 0.2)
    gone = (mask == 1) & (kept == 0)
    assert torch.equal(hidden == 3, gone)
    assert torch.equal(hidden[~gone], ids[~gone])
    assert not gone[:, 0].any(), "special tokens stay"
    assert 0.17 < gone.sum().item() / (mask[:, 1:] == 1).sum().item() < 0.21
    ids, mask = ids[:, 1:3], torch.ones(2000, 2, dtype=torch.int64)
    assert (hide_words(ids, mask, 0.99)[1].sum(dim=1) >= 1).all()
