"""A sixth paper is one file, its loss or its encoder, and one TOML, its recipe: here all, thrown away."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar, Literal

import pytest
import torch
from torch import Tensor, nn

from training.encoders.base import ENCODERS, EncoderSettings, SentenceEncoder, masked_mean
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


ENCODER_RECIPE = """
extends = "bag-of-subwords"
without = ["text", "objectives"]
name = "seventh-paper"
description = "Subwords weighted by what a gate makes of them"
[text]
encoder = "gated"
width = 32
[objectives.cross_modal]
"""


@pytest.fixture
def objective(monkeypatch: pytest.MonkeyPatch) -> type[Objective]:
    """What the paper's file under training/objectives would hold."""
    monkeypatch.setitem(OBJECTIVES, "rotated_partner", Objective)  # forgotten after the test

    @named("rotated_partner")
    class RotatedPartner(Objective):
        """Mean over captions i of 1 - cos(W z_i, z_i+), W learned, z_i+ a caption in another language."""

        rows: ClassVar[tuple[str, ...]] = ("text", "partners")

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


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> type[SentenceEncoder]:
    """What the paper's file under training/encoders would hold."""
    monkeypatch.setitem(ENCODERS, "gated", EncoderSettings)  # forgotten after the test

    class GatedSettings(EncoderSettings):
        encoder: Literal["gated"]

        def build(self, vocabulary: int, languages: int) -> "Gated":
            return Gated(self, vocabulary)

    class Gated(SentenceEncoder):
        """Token ids and mask (N, T) -> subwords times their gates (N, T, width), pooled by their mean."""

        def __init__(self, settings: GatedSettings, vocabulary: int) -> None:
            super().__init__(settings)
            self.tokens = nn.Embedding(vocabulary, settings.width)
            self.gate = nn.Linear(settings.width, 1)

        def states(self, ids: Tensor, mask: Tensor) -> Tensor:
            words: Tensor = self.tokens(ids)
            return words * self.gate(words).sigmoid()

        def pool(self, states: Tensor, mask: Tensor) -> Tensor:
            return masked_mean(states, mask)

        def word_table(self) -> Tensor:
            return self.tokens.weight

    return Gated


def losses_of_smoke(recipe: str, name: str, folder: Path) -> list[float]:
    """Train and export a recipe at tiny sizes; its losses, step by step."""
    toml = folder / "recipe.toml"
    toml.write_text(recipe, "utf-8")
    said = run_smoke(str(toml), folder / "out", ["optimiser.epochs=6"])
    assert "-paper@smoke" in said, "trained, exported"
    log = (folder / "out" / "run" / "log.jsonl").read_text("utf-8").splitlines()
    losses = [entry[name] for entry in map(json.loads, log) if "step" in entry]
    assert torch.isfinite(torch.tensor(losses)).all()
    return losses


def test_a_sixth_paper_is_one_file_and_one_toml(objective: type[Objective], tmp_path: Path) -> None:
    losses = losses_of_smoke(RECIPE, "rotated_partner", tmp_path)
    assert losses[-1] < 0.8 * losses[0]


def test_so_is_a_new_encoder(encoder: type[SentenceEncoder], tmp_path: Path) -> None:
    losses = losses_of_smoke(ENCODER_RECIPE, "cross_modal", tmp_path)
    assert losses[-1] < losses[0]
