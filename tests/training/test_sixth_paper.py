"""A sixth paper is a room and nothing else: its loss, its encoder and its recipe in a folder, thrown away."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import invalidate_caches
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

import training.papers
from passepartout import cli
from training.encoders.base import ENCODERS
from training.objectives.base import OBJECTIVES
from training.recipes.files import shipped_recipes

ROOM = {
    "__init__.py": '''
"""A sixth paper: a rotation of each sentence meets its partner; words count as much as a gate lets them."""
''',
    "rotated_partner.py": '''
"""The loss between a rotated sentence and another sentence about the same picture."""

from torch import nn

from training.objectives.base import Objective, named
from training.papers.shared.suppliers import several_captions


@named("rotated_partner")
class RotatedPartner(Objective):
    """Mean over captions i of 1 - cos(W z_i, z_i+), W learned, z_i+ a caption in another language."""

    rows = ("text", "partners")

    def requires(self, recipe):
        yield from several_captions(recipe)

    def modules(self, model):
        return {"rotation": lambda: nn.Linear(model.dimension, model.dimension, bias=False)}

    def compute(self, forward):
        return {"rotated": (forward.model.learned["rotation"](forward.text),)}

    def __call__(self, step):
        return 1 - nn.functional.cosine_similarity(step["rotated"][0], step["partners"][0]).mean()
''',
    "gated.py": '''
"""Subwords weighted by a gate."""

from typing import Literal

from torch import nn

from training.encoders.base import EncoderSettings, SentenceEncoder, masked_mean


class GatedSettings(EncoderSettings):
    encoder: Literal["gated"]

    def build(self, vocabulary, languages):
        return Gated(self, vocabulary)


class Gated(SentenceEncoder):
    """Token ids and mask (N, T) -> subwords times their gates (N, T, width), pooled by their mean."""

    def __init__(self, settings, vocabulary):
        super().__init__(settings)
        self.tokens = nn.Embedding(vocabulary, settings.width)
        self.gate = nn.Linear(settings.width, 1)

    def states(self, ids, mask):
        words = self.tokens(ids)
        return words * self.gate(words).sigmoid()

    def pool(self, states, mask):
        return masked_mean(states, mask)

    def word_table(self):
        return self.tokens.weight
''',
    "recipes/sixth-paper.toml": """
extends = "bag-of-subwords"
without = ["text", "objectives"]
name = "sixth-paper"
description = "A learned rotation of a sentence meets its partner and its picture"

[data]
pictures = "shared"

[text]
encoder = "gated"
width = 256

[head]
dimension = 128

[objectives.rotated_partner]
weight = 0.5

[objectives.cross_modal]
""",
}


def write_room(papers: Path, *more: str) -> None:
    """Write the room's files into a folder of rooms, and `more` lines into its loss."""
    for name, content in ROOM.items():
        file = papers / "sixth" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content.lstrip() + "".join(more if name == "rotated_partner.py" else ()), "utf-8")


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The room among the others; forgotten after the test."""
    write_room(tmp_path / "papers")
    monkeypatch.setattr(training.papers, "__path__", [*training.papers.__path__, str(tmp_path / "papers")])
    invalidate_caches()
    yield
    for registry, name in ((OBJECTIVES, "rotated_partner"), (ENCODERS, "gated")):
        registry.pop(name, None)
    for module in [name for name in sys.modules if name.startswith("training.papers.sixth")]:
        del sys.modules[module]


@pytest.mark.usefixtures("room")
@pytest.mark.slow
def test_a_sixth_paper_is_a_room_and_nothing_else(tmp_path: Path) -> None:
    assert "sixth-paper" in shipped_recipes()
    words = ["train", "sixth-paper", "--smoke", "--out", str(tmp_path / "out"), "--set", "optimiser.epochs=6"]
    done = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert "sixth-paper@smoke" in done.output, "trained, exported"
    log = (tmp_path / "out" / "run" / "log.jsonl").read_text("utf-8").splitlines()
    losses = torch.tensor(
        [[entry[name] for name in ("rotated_partner", "cross_modal")] for entry in map(json.loads, log)
         if "step" in entry]
    )  # fmt: skip
    assert torch.isfinite(losses).all()
    assert losses[-1, 0] < 0.9 * losses[0, 0]
    assert losses[-1, 1] < losses[0, 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "status"),
    [("", 0), ("from training.papers.mule.losses import Triplet\n", 1)],
    ids=["of what is shared", "of another paper"],
)
def test_imports_of_a_sixth_paper_are_checked(more: str, status: int, tmp_path: Path) -> None:
    """In a copy of the training package, beside the others as they are."""
    root = Path(training.papers.__path__[0]).parents[1]
    for name in ("index", "service", "evaluation", "pyproject.toml"):
        (tmp_path / name).symlink_to(root / name)
    shutil.copytree(root / "training", tmp_path / "training", ignore=shutil.ignore_patterns("__pycache__"))
    write_room(tmp_path / "training" / "papers", more)
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stdout
    assert ("training.papers.sixth" in done.stdout) == bool(more)
