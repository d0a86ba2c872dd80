import pytest
import torch

from tests.training.step_batches import rows, step_of
from training.papers.united.halves import Halves

CAPTIONS = rows(6, 4, 9)


def test_two_halves_by_hand() -> None:
    """One sentence: no other to choose. Two, at right angles: e^(1/τ) against twice e^(1/2τ)."""
    one = torch.eye(2, dtype=torch.float64)
    assert Halves()(step_of(CAPTIONS, (), halves=(one[:1], one[:1]))).item() == pytest.approx(0)
    found = Halves(temperature=0.5)(step_of(CAPTIONS, (), halves=(one, one))).item()
    right, wrong = torch.exp(torch.tensor([2.0, 1.0], dtype=torch.float64))
    assert found == pytest.approx(-torch.log(right / (right + 2 * wrong)).item())
