import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.training.step_batches import rows, step_of
from training.objectives import OBJECTIVES, Objective
from training.objectives.base import unit_similarity
from training.recipes.rooms import open_rooms

open_rooms()  # the papers' objectives, too


def test_similarity_is_the_cosine_scaled_to_0_and_1() -> None:
    """Globetrotter, B.1."""
    here = torch.tensor([[1.0, 0.0]])
    there = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [math.cos(1), math.sin(1)]])
    assert torch.allclose(unit_similarity(here, there), torch.tensor([[1, 0.5, 0, (1 + math.cos(1)) / 2]]))


@given(st.integers(1, 8), st.integers(1, 8), st.integers(1, 16), st.integers(0, 1000))
def test_similarity_lies_between_0_and_1(n: int, m: int, width: int, seed: int) -> None:
    found = unit_similarity(rows(n, width, seed), rows(m, width, seed + 1))
    assert found.shape == (n, m)
    assert found.min() >= -1e-12
    assert found.max() <= 1 + 1e-12


def test_an_objective_is_only_its_subclasses() -> None:
    with pytest.raises(NotImplementedError):
        Objective()(step_of(rows(2, 2, 0), (rows(2, 2, 1),)))


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
