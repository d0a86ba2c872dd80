"""A sixth paper is one file, its loss, and one TOML, its recipe: here both, thrown away afterwards."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from training.encoders.two_branch import TwoBranch
from training.objectives import OBJECTIVES, Forward, Objective, Step
from training.objectives.base import Tables, named, several_captions
from training.smoke import run_smoke

RECIPE = """
extends = "bag-of-subwords"
without = ["objectives"]
name = "sixth-paper"
description = "A learned rotation of a sentence meets its partner and its picture"
[data]
pictures = "shared"
[objectives.rotated_partner]
weight = 0.5
[objectives.cross_modal]
"""


@pytest.fixture
def objective(monkeypatch: pytest.MonkeyPatch) -> type[Objective]:
    """What the paper's file under training/objectives would hold."""
    monkeypatch.setitem(OBJECTIVES, "rotated_partner", Objective)  # forgotten after the test

    @named("rotated_partner")
    class RotatedPartner(Objective):
        """Mean over captions i of 1 - cos(W z_i, z_i+), W learned, z_i+ a caption in another language."""

        @property
        def reads(self) -> frozenset[str]:
            return frozenset({"text", "partners"})

        def requires(self, recipe: Tables) -> Iterator[str]:
            yield from several_captions(recipe)

        def modules(self, model: TwoBranch) -> dict[str, Callable[[], nn.Module]]:
            return {"rotation": lambda: nn.Linear(model.dimension, model.dimension, bias=False)}

        def compute(self, forward: Forward) -> dict[str, tuple[Tensor, ...]]:
            return {"rotated": (forward.model.learned["rotation"](forward.text),)}

        def __call__(self, step: Step) -> Tensor:
            similarity = nn.functional.cosine_similarity(step["rotated"][0], step["partners"][0])
            return 1 - similarity.mean()

    return RotatedPartner


def test_a_sixth_paper_is_one_file_and_one_toml(objective: type[Objective], tmp_path: Path) -> None:
    toml = tmp_path / "sixth-paper.toml"
    toml.write_text(RECIPE, "utf-8")
    said = run_smoke(str(toml), tmp_path / "out", ["optimiser.epochs=6"])
    assert "sixth-paper@smoke" in said, "trained, exported"
    log = (tmp_path / "out" / "run" / "log.jsonl").read_text("utf-8").splitlines()
    losses = [entry["rotated_partner"] for entry in map(json.loads, log) if "step" in entry]
    assert losses[-1] < 0.8 * losses[0]
    assert torch.isfinite(torch.tensor(losses)).all()
