import math

import pytest
import torch
from pydantic import ValidationError

from training.objectives.base import OBJECTIVES, unit_similarity
from training.recipes.files import open_rooms

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
