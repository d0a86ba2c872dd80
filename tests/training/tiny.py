"""Recipes that train in a second on the drawn pictures of the `data` fixture, and runs that die."""

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from training.loop.engine import Chunk
from training.loop.training_loop import Loop, train
from training.recipes.recipe import Recipe, load_recipe

LANGUAGES = ("en", "de", "pt")
PICTURES, SIZE = 150, 32

# Frozen features, a bag of subwords, a whitened space: what globetrotter-small does.
BAG = """
name = "tiny-bag"
description = "A bag of subwords for tests"
seed = 5
[data]
languages = ["en", "de", "pt"]
[tokenizer]
vocabulary = 300
[text]
encoder = "bag"
width = 16
[vision]
backbone = "weights/tiny"
training = "frozen"
space = "whitened"
whitening = 0.5
views = 2
average_views = true
image_size = 32
[head]
dimension = 16
text = "none"
[objectives.visual_regression]
[objectives.cross_modal]
weight = 0.1
[objectives.transitive]
weight = 0.03
normalise = "positives"
[optimiser]
epochs = 4
batch_size = 32
learning_rate = 1e-2
warmup_steps = 2
schedule = "linear"
[run]
threads = 1
"""

# BAG on photographs and drawings.
WITH_DRAWINGS = ('data.sets=["photos","pictograms"]', "data.pictures=shared", "optimiser.epochs=12")

# A tuned backbone, a transformer, learned spaces and all the paper's losses: what globetrotter does.
TRANSFORMER = """
name = "tiny-transformer"
description = "A transformer for tests"
seed = 5
[data]
languages = ["en", "de", "pt"]
[tokenizer]
vocabulary = 300
[text]
encoder = "transformer"
width = 16
layers = 1
heads = 2
feedforward = 32
max_tokens = 24
[vision]
backbone = "weights/tiny"
image_size = 32
[head]
dimension = 8
[objectives.transitive]
[objectives.visual_contrastive]
weight = 0.2
[objectives.cross_modal]
weight = 0.2
[objectives.cloze]
weight = 0.2
[optimiser]
epochs = 2
batch_size = 32
learning_rate = 1e-3
weight_decay = 0.01
clip_norm = 1.0
[run]
threads = 1
"""

# The transformer on frozen features: learned space, two views in an order drawn anew, no pixels to decode.
FROZEN = ("vision.training=frozen",)


def write_recipe(text: str, folder: Path) -> Path:
    file = folder / "recipe.toml"
    file.write_text(text, "utf-8")
    return file


def recipe(text: str, folder: Path, *overrides: str) -> Recipe:
    """The recipe of BAG or TRANSFORMER, with overrides."""
    return load_recipe(str(write_recipe(text, folder)), overrides)


def train_until(step: int, recipe: Recipe, data: Path, out: Path) -> None:
    """Train, on from a checkpoint if there is one, in a process that kills itself before a step."""
    real = Loop._step

    def fatal(self: Loop, chunks: list[Chunk], rate: float) -> None:
        if self.counters.step == step:
            os.kill(os.getpid(), signal.SIGKILL)
        real(self, chunks, rate)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Loop, "_step", fatal)
        fork = multiprocessing.get_context("fork")
        process = fork.Process(target=train, args=(recipe, data, out), kwargs={"resume": True})
        process.start()
        process.join()
    assert process.exitcode == -signal.SIGKILL
