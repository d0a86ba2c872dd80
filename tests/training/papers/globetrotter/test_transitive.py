import math
from typing import Literal

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.training.step_batches import batch, batches, near, rows, step_of
from training.objectives.base import Step
from training.papers.globetrotter.transitive import Transitive

Normalise = Literal["batch", "positives"]
WAYS: list[Normalise] = ["batch", "positives"]


def similarity(one: list[float], other: list[float]) -> float:
    return (1 + sum(a * b for a, b in zip(one, other, strict=True))) / 2


def alpha_by_hand(outputs: Step, margin: float) -> list[list[float]]:
    """Globetrotter, eq. 2, averaged over the views."""
    texts = outputs.text.tolist()
    n = len(texts)
    found = [[0.0] * n for _ in range(n)]
    for view in outputs.views:
        pictures = view.tolist()
        own = [similarity(pictures[i], texts[i]) for i in range(n)]
        for i in range(n):
            for j in range(n):
                path = own[i] * similarity(pictures[i], pictures[j]) * own[j]
                found[i][j] += max(0, path - margin) / (1 - margin) / len(outputs.views)
    return found


def by_hand(outputs: Step, way: Normalise, margin: float, temperature: float) -> float:
    """Eq. 1 over the sentences, or over the alphas."""
    texts = outputs.text.tolist()
    n = len(texts)
    alpha = alpha_by_hand(outputs, margin)
    total = positives = 0.0
    for i in range(n):
        others = [j for j in range(n) if j != i]
        beta = {j: math.exp(similarity(texts[i], texts[j]) / temperature) for j in others}
        total -= sum(alpha[i][j] * math.log(beta[j] / sum(beta.values())) for j in others)
        positives += sum(alpha[i][j] for j in others)
    return total / (n if way == "batch" else max(1e-6, positives))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("views", [1, 2])
@pytest.mark.parametrize(("margin", "temperature"), [(0.4, 0.1), (0.0, 1.0), (0.7, 0.05)])
def test_equations_1_and_2(way: Normalise, views: int, margin: float, temperature: float) -> None:
    outputs = batch(n=8, views=views)
    loss = Transitive(margin=margin, temperature=temperature, normalise=way)
    assert loss.alpha(outputs).fill_diagonal_(0).count_nonzero() > 8, "the case must have positives"
    assert loss(outputs).item() == pytest.approx(by_hand(outputs, way, margin, temperature), rel=1e-9)


@given(batches, st.floats(0, 0.9))
def test_alpha_is_as_by_hand_symmetric_and_between_0_and_1(outputs: Step, margin: float) -> None:
    alpha = Transitive(margin=margin).alpha(outputs)
    assert torch.allclose(alpha, alpha.T)
    assert alpha.min() >= 0
    assert alpha.max() <= 1 + 1e-9
    assert torch.allclose(alpha, torch.tensor(alpha_by_hand(outputs, margin), dtype=alpha.dtype), atol=1e-9)


def test_no_gradient_flows_through_alpha() -> None:
    outputs = batch(n=6)
    views = tuple(view.clone().requires_grad_() for view in outputs.views)
    assert not Transitive().alpha(step_of(outputs.text.clone().requires_grad_(), views)).requires_grad


@pytest.mark.parametrize("way", WAYS)
def test_without_positives_it_is_0_and_so_is_its_gradient(way: Normalise) -> None:
    text = rows(5, 4, 0).requires_grad_()
    loss = Transitive(margin=0.99, normalise=way)
    outputs = step_of(text, (near(-text.detach(), 0.1, 1),))
    assert not loss.alpha(outputs).any()
    found = loss(outputs)
    found.backward()  # type: ignore[no-untyped-call]
    assert found.item() == 0
    assert text.grad is not None
    assert not text.grad.any()


# Three pictures, the second near the first, the third across; sentences that fit theirs more or less.
VIEW = torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]], dtype=torch.float64)
TEXT = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]], dtype=torch.float64)


def test_the_published_alpha_by_hand() -> None:
    """α^x is 1, 0.96, -1; their products go from -1 to 1: 0.96 is at 0.98 of the way, -0.96 at 0.02."""
    largest, other = 0.8 * (0.75 + 0.5 * 0.98), 0.6 * (0.75 + 0.5 * 0.02)
    alpha = Transitive(published=True).alpha(step_of(TEXT, (VIEW,)))
    assert alpha[0, 1].item() == pytest.approx(1)
    assert alpha[1, 2].item() == pytest.approx((other / largest - 0.4) / 0.6)
    assert alpha[0, 2].item() == 0
    visual = Transitive(published=True, visual_only=True).alpha(step_of(TEXT, (VIEW,)))
    assert visual[1, 2].item() == pytest.approx((0.6 / 0.8 - 0.4) / 0.6)


@pytest.mark.parametrize(("cosine", "are_positives"), [(0.8, True), (0.78, False)])
def test_unrelated_pictures_are_positives_by_the_papers_alpha_alone(
    cosine: float, are_positives: bool
) -> None:
    """On [0, 1] they have 0.5, and 0.5 x² > 0.4 for x above 0.894, a cosine of 0.789: where captions fit."""
    across = math.sqrt(1 - cosine**2)
    view = torch.eye(3, dtype=torch.float64)[:2]
    text = torch.tensor([[cosine, 0.0, across], [0.0, cosine, across]], dtype=torch.float64)
    outputs = step_of(text, (view,))
    assert (Transitive().alpha(outputs)[0, 1].item() > 0) is are_positives
    assert Transitive(published=True).alpha(outputs)[0, 1].item() == 0


@given(batches, st.floats(0, 0.9))
def test_the_published_alpha_is_symmetric_and_its_largest_is_1_in_every_view(
    outputs: Step, margin: float
) -> None:
    """Of two sentences; where all pictures of a batch are apart there are no positives at all."""
    for view in outputs.views:
        alpha = Transitive(margin=margin, published=True).alpha(step_of(outputs.text, (view,)))
        assert torch.allclose(alpha, alpha.T)
        assert alpha.min() >= 0
        related = (view @ view.T).fill_diagonal_(0).max() > 1e-6
        assert alpha.fill_diagonal_(0).max().item() == pytest.approx(1 if related else 0, abs=1e-5)
