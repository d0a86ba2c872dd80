import math
from random import Random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.training.step_batches import batch, batches, permuted, rows, step_of, stepped
from training.objectives import Step
from training.papers.globetrotter.visual_contrastive import VisualContrastive


def by_hand(outputs: Step, temperature: float) -> float:
    """Globetrotter, eq. 3, over the 2N views: the other view of a picture against all views but itself."""
    first, second = (view.tolist() for view in outputs.views[:2])
    views, n = first + second, len(first)
    total = 0.0
    for i in range(2 * n):
        alpha = [(1 + sum(a * b for a, b in zip(views[i], other, strict=True))) / 2 for other in views]
        others = sum(math.exp(alpha[k] / temperature) for k in range(2 * n) if k != i)
        total -= math.log(math.exp(alpha[(i + n) % (2 * n)] / temperature) / others)
    return total / (2 * n)


@pytest.mark.parametrize("temperature", [0.05, 0.1, 1.0])
def test_equation_3(temperature: float) -> None:
    outputs = batch(n=7)
    found = VisualContrastive(temperature=temperature)(outputs).item()
    assert found == pytest.approx(by_hand(outputs, temperature), rel=1e-9)


def test_a_view_is_not_its_own_negative() -> None:
    """One picture: its other view is all there is to choose from, so there is nothing to lose."""
    pair = step_of(rows(1, 3, 0), (rows(1, 3, 1), rows(1, 3, 2)))
    assert VisualContrastive()(pair).item() == pytest.approx(0, abs=1e-12)


def test_two_pictures_that_point_apart() -> None:
    """Similarity 1 to the other view and 0 to the two of the other picture: log(1 + 2 exp(-1/τ))."""
    line = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    found = VisualContrastive(temperature=0.5)(step_of(line, (line, line))).item()
    assert found == pytest.approx(math.log(1 + 2 * math.exp(-2)), rel=1e-6)


@given(batches)
def test_text_plays_no_part(outputs: Step) -> None:
    loss = VisualContrastive()
    assert loss(step_of(-outputs.text, outputs.views)).item() == loss(outputs).item()


@given(batches, st.randoms(use_true_random=False))
def test_the_order_of_the_batch_does_not_matter(outputs: Step, random: Random) -> None:
    order = list(range(len(outputs.text)))
    random.shuffle(order)
    loss = VisualContrastive()
    assert loss(permuted(outputs, order)).item() == pytest.approx(loss(outputs).item(), rel=1e-9)


def test_a_step_brings_views_together_and_pictures_apart() -> None:
    before = step_of(rows(6, 4, 0), (rows(6, 4, 1), rows(6, 4, 2)))
    after = stepped(VisualContrastive(), before)
    own = torch.eye(6, dtype=torch.bool)
    gained = after.views[0] @ after.views[1].T - before.views[0] @ before.views[1].T
    assert gained[own].mean() > 0
    assert gained[~own].mean() < 0
