import math

import pytest
import torch
from torch import Tensor

from tests.training.step_batches import rows, step_of
from training.objectives import Step
from training.papers.globetrotter.orthogonality import Orthogonality


def given(adaptations: Tensor) -> Step:
    return step_of(rows(2, 3, 0), (), language_maps=adaptations)


def test_the_mean_squared_distance_of_w_wt_from_the_identity() -> None:
    """2I in two dimensions: ||4I - I||² = 18; W = [[1, 1], [0, 1]]: W Wᵀ - I = [[1, 1], [1, 0]], so 3."""
    shear = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
    assert Orthogonality()(given(torch.stack([2 * torch.eye(2), shear]))).item() == pytest.approx(
        (18 + 3) / 2
    )


@pytest.mark.parametrize("angle", [0.0, 0.3, math.pi / 2, 3.0])
def test_a_rotation_costs_nothing(angle: float) -> None:
    c, s = math.cos(angle), math.sin(angle)
    turned = torch.tensor([[[c, -s], [s, c]]], dtype=torch.float64, requires_grad=True)
    found = Orthogonality()(given(turned))
    found.backward()  # type: ignore[no-untyped-call]
    assert found.item() == pytest.approx(0, abs=1e-12)
    assert turned.grad is not None
    assert turned.grad.abs().max() < 1e-9


def test_steps_lead_to_a_rotation() -> None:
    generator = torch.Generator().manual_seed(0)
    w = torch.eye(4) + 0.3 * torch.randn(3, 4, 4, generator=generator)
    w.requires_grad_()
    first = Orthogonality()(given(w)).item()
    for _ in range(200):
        loss = Orthogonality()(given(w))
        (gradient,) = torch.autograd.grad(loss, w)
        w = (w - 0.05 * gradient).detach().requires_grad_()
    assert Orthogonality()(given(w)).item() < 1e-3 < first
    assert torch.allclose(w @ w.mT, torch.eye(4).expand(3, 4, 4), atol=0.05)
