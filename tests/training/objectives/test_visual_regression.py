import math

import pytest
import torch
from hypothesis import given

from tests.training.step_batches import batch, batches, step_of, stepped
from training.objectives import Step
from training.objectives.visual_regression import VisualRegression


def test_one_minus_the_cosine_over_pairs_and_views() -> None:
    outputs = batch(n=5, views=2)
    losses = [
        1 - sum(a * b for a, b in zip(text, picture, strict=True))
        for view in outputs.views
        for text, picture in zip(outputs.text.tolist(), view.tolist(), strict=True)
    ]
    assert VisualRegression()(outputs).item() == pytest.approx(sum(losses) / len(losses), rel=1e-9)


def test_its_ends() -> None:
    text = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    loss = VisualRegression()
    assert loss(step_of(text, (text,))).item() == 0
    assert loss(step_of(text, (-text,))).item() == 2
    assert loss(step_of(text, (text.flip(0),))).item() == 1
    turned = torch.tensor([[math.cos(1), math.sin(1)], [-math.sin(1), math.cos(1)]])
    assert loss(step_of(text, (turned,))).item() == pytest.approx(1 - math.cos(1))


@given(batches)
def test_a_step_brings_captions_to_their_pictures(outputs: Step) -> None:
    loss = VisualRegression()
    before = loss(outputs)
    assert loss(stepped(loss, outputs, 0.01)) <= before
