import pytest

from tests.training.step_batches import batch
from training.objectives.visual_regression import VisualRegression


def test_one_minus_the_cosine_over_pairs_and_views() -> None:
    outputs = batch(n=5, views=2)
    losses = [
        1 - sum(a * b for a, b in zip(text, picture, strict=True))
        for view in outputs.views
        for text, picture in zip(outputs.text.tolist(), view.tolist(), strict=True)
    ]
    assert VisualRegression()(outputs).item() == pytest.approx(sum(losses) / len(losses), rel=1e-9)
