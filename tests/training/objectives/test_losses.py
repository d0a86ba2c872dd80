import math

import pytest
import torch
from pydantic import ValidationError

from tests.training.step_batches import batch, pairs_by_hand, rows, step_of
from training.objectives.base import OBJECTIVES, Step, unit_similarity
from training.objectives.losses import CrossModal, Pseudopairs, VisualRegression
from training.recipes.files import open_rooms

CAPTIONS = rows(6, 4, 9)


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


@pytest.mark.parametrize("temperature", [0.05, 0.1, 1.0])
def test_the_softmax_over_all_sentences(temperature: float) -> None:
    one, other = rows(5, 4, 0), rows(5, 4, 1)
    found = Pseudopairs(temperature=temperature)(step_of(CAPTIONS, (), mined=(one, other))).item()
    assert found == pytest.approx(pairs_by_hand(one, other, temperature), rel=1e-9)


def test_nothing_mined_costs_nothing() -> None:
    assert Pseudopairs()(step_of(CAPTIONS, ())).item() == 0


def test_one_minus_the_cosine_over_pairs_and_views() -> None:
    outputs = batch(n=5, views=2)
    losses = [
        1 - sum(a * b for a, b in zip(text, picture, strict=True))
        for view in outputs.views
        for text, picture in zip(outputs.text.tolist(), view.tolist(), strict=True)
    ]
    assert VisualRegression()(outputs).item() == pytest.approx(sum(losses) / len(losses), rel=1e-9)


open_rooms()  # the papers' objectives, too


def test_similarity_is_the_cosine_scaled_to_0_and_1() -> None:
    """Globetrotter, B.1."""
    here = torch.tensor([[1.0, 0.0]])
    there = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [math.cos(1), math.sin(1)]])
    assert torch.allclose(unit_similarity(here, there), torch.tensor([[1, 0.5, 0, (1 + math.cos(1)) / 2]]))


@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_objective_refuses_what_it_does_not_know_and_never_changes(name: str) -> None:
    objective = OBJECTIVES[name]()
    assert objective.weight == 1
    with pytest.raises(ValidationError, match="spam"):
        OBJECTIVES[name].model_validate({"spam": 1})
    with pytest.raises(ValidationError, match="frozen"):
        objective.weight = 2.0
    with pytest.raises(ValidationError, match="finite"):
        OBJECTIVES[name].model_validate({"weight": math.inf})
