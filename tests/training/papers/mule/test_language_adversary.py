import math

import pytest
import torch

from tests.training.step_batches import rows, step_of
from training.papers.mule.losses import LanguageAdversary, reversed_gradient


def test_cross_entropy_of_the_classifier() -> None:
    logits = torch.tensor([[2.0, 0.0], [0.0, 0.0], [0.0, 2.0]])
    outputs = step_of(rows(3, 2, 0), (), adversary=(logits, torch.tensor([0, 1, 1])))
    expected = (2 * math.log(1 + math.exp(-2)) + math.log(2)) / 3
    assert LanguageAdversary()(outputs).item() == pytest.approx(expected)
    assert LanguageAdversary().terms(outputs) == 3, "a batch may be cut"


def test_a_reversed_gradient() -> None:
    x = torch.tensor([[1.0, -2.0]], requires_grad=True)
    assert torch.equal(reversed_gradient(x), x)
    (3 * reversed_gradient(x)).sum().backward()  # type: ignore[no-untyped-call]
    assert x.grad is not None
    assert x.grad.tolist() == [[-3, -3]]
