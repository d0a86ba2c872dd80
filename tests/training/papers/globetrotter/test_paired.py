import math

import pytest
import torch
from torch import Tensor

from tests.training.step_batches import near, rows, step_of
from training.objectives import Step
from training.papers.globetrotter.paired import Paired


def paired(text: Tensor, partners: Tensor) -> Step:
    return step_of(text, (), partners=partners)


def by_hand(text: Tensor, partners: Tensor, temperature: float) -> float:
    """Globetrotter, eq. 1, with α = 1 for partners: the mean over all 2N sentences."""
    every = [*text.tolist(), *partners.tolist()]
    n, total = len(text), 0.0
    for i, one in enumerate(every):
        beta = [math.exp((1 + sum(map(float.__mul__, one, other))) / 2 / temperature) for other in every]
        total -= math.log(beta[(i + n) % (2 * n)] / (sum(beta) - beta[i]))
    return total / (2 * n)


@pytest.mark.parametrize("temperature", [0.05, 0.1, 1.0])
def test_equation_1_with_known_pairs(temperature: float) -> None:
    text, partners = rows(5, 4, 0), rows(5, 4, 1)
    found = Paired(temperature=temperature)(paired(text, partners)).item()
    assert found == pytest.approx(by_hand(text, partners, temperature), rel=1e-9)


def test_two_pairs_that_point_apart() -> None:
    """The partner's similarity 1, the two others' 0: log(1 + 2 exp(-1/τ))."""
    line = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
    found = Paired(temperature=0.5)(paired(line, line)).item()
    assert found == pytest.approx(math.log(1 + 2 * math.exp(-2)))


def test_which_of_the_two_is_called_the_partner_does_not_matter() -> None:
    text, partners = rows(6, 4, 0), rows(6, 4, 1)
    assert Paired()(paired(text, partners)) == pytest.approx(Paired()(paired(partners, text)).item())


def test_a_step_brings_partners_nearer_and_parts_the_others() -> None:
    text, partners = rows(6, 4, 0).requires_grad_(), near(rows(6, 4, 0), 1.0, 1).requires_grad_()
    Paired()(paired(text, partners)).backward()  # type: ignore[no-untyped-call]
    assert text.grad is not None
    assert partners.grad is not None
    before = (text @ partners.T).detach()
    after = (text - 0.05 * text.grad) @ (partners - 0.05 * partners.grad).T
    own = torch.eye(6, dtype=torch.bool)
    gained = (after - before).detach()
    assert gained[own].mean() > 0
    assert gained[own].mean() > gained[~own].mean() + 0.01
