"""The two losses of Lample & Conneau: both are the surprise at what had to be written."""

import math

import pytest
import torch

from tests.training.step_batches import rows, step_of
from training.papers.globetrotter.back_translation import BackTranslation
from training.papers.globetrotter.denoising import Denoising

TEXT = rows(2, 2, 0)
SHARES = torch.tensor([[0.5, 0.25, 0.25], [0.2, 0.2, 0.6]])
TRUTH = torch.tensor([0, 1])


@pytest.mark.parametrize(
    ("loss", "given"), [(Denoising(), "denoising"), (BackTranslation(), "back_translation")]
)
def test_the_mean_surprise_of_the_tokens_to_write(loss: Denoising | BackTranslation, given: str) -> None:
    """Two tokens of a vocabulary of three: -(log 1/2 + log 1/5) / 2."""
    logits = SHARES.log().requires_grad_()
    found = loss(step_of(TEXT, (), **{given: (logits, TRUTH)}))
    assert found.item() == pytest.approx(-(math.log(0.5) + math.log(0.2)) / 2)
    (gradient,) = torch.autograd.grad(found, logits)
    after = (logits - gradient).softmax(dim=1)
    assert after[0, 0] > 0.5
    assert after[1, 1] > 0.2
    assert after[1, 2] < 0.6
