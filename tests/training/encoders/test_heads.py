import pytest
import torch
from torch import nn

from training.encoders.heads import PredictionHead, UnitNorm


@pytest.mark.parametrize("head", [PredictionHead(12, 5), UnitNorm()], ids=["mlp", "none"])
def test_heads_end_on_the_unit_sphere(head: nn.Module) -> None:
    torch.manual_seed(0)
    found = head(100 * torch.randn(20, 12))
    assert torch.allclose(found.norm(dim=1), torch.ones(20), atol=1e-6)


def test_a_zero_vector_stays_finite() -> None:
    hidden = torch.zeros(1, 4, requires_grad=True)
    found = UnitNorm()(hidden)
    assert torch.equal(found, torch.zeros(1, 4))
