import math

import pytest
import torch
from torch import Tensor

from tests.training.step_batches import assert_pairs_come_nearer, rows, step_of
from training.objectives import Step
from training.objectives.pseudopairs import Pseudopairs

CAPTIONS = rows(6, 4, 9)


def outputs(one: Tensor, other: Tensor) -> Step:
    return step_of(CAPTIONS, (), mined=(one, other))


def by_hand(one: Tensor, other: Tensor, temperature: float) -> float:
    """Each sentence against all others but itself; the mean over both of each pair."""
    both, n, total = torch.cat([one, other]), len(one), 0.0
    beta = [[math.exp((1 + float(a @ b)) / 2 / temperature) for b in both] for a in both]
    for i in range(2 * n):
        total -= math.log(beta[i][(i + n) % (2 * n)] / (sum(beta[i]) - beta[i][i]))
    return total / (2 * n)


@pytest.mark.parametrize("temperature", [0.05, 0.1, 1.0])
def test_the_softmax_over_all_sentences(temperature: float) -> None:
    one, other = rows(5, 4, 0), rows(5, 4, 1)
    found = Pseudopairs(temperature=temperature)(outputs(one, other)).item()
    assert found == pytest.approx(by_hand(one, other, temperature), rel=1e-9)


def test_nothing_mined_costs_nothing() -> None:
    assert Pseudopairs()(step_of(CAPTIONS, ())).item() == 0


def test_a_step_brings_pairs_nearer_and_parts_the_others() -> None:
    assert_pairs_come_nearer(lambda one, other: Pseudopairs()(outputs(one, other)))
