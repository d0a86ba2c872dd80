import math

import pytest

from tests.training.step_batches import batch
from training.objectives.base import Step
from training.objectives.cross_modal import CrossModal


def by_hand(outputs: Step, temperature: float) -> float:
    """Globetrotter, eq. 4, as a mean over sentences and views."""
    total = 0.0
    for view in outputs.views:
        pictures, texts = view.tolist(), outputs.text.tolist()
        n = len(texts)
        alpha = [[(1 + sum(map(float.__mul__, p, t))) / 2 for t in texts] for p in pictures]
        for i in range(n):
            own = math.exp(alpha[i][i] / temperature)
            by_text = sum(math.exp(alpha[i][j] / temperature) for j in range(n))
            by_picture = sum(math.exp(alpha[j][i] / temperature) for j in range(n))
            total -= (math.log(own / by_text) + math.log(own / by_picture)) / n
    return total / len(outputs.views)


@pytest.mark.parametrize("temperature", [0.05, 0.1, 1.0])
@pytest.mark.parametrize("views", [1, 2])
def test_equation_4(temperature: float, views: int) -> None:
    outputs = batch(n=7, views=views)
    found = CrossModal(temperature=temperature)(outputs).item()
    assert found == pytest.approx(by_hand(outputs, temperature), rel=1e-9)
