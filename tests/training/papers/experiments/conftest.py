"""A run that learned en, de and pt and holds out the Chinese captions, trained once."""

from pathlib import Path

import pytest

from tests.training.tiny import recipe
from training.data.synthetic.dataset import write_synthetic
from training.data.synthetic.encoders import write_tiny_backbone
from training.loop.run import Run
from training.loop.training_loop import train

BAG = """
name = "drawn-bag"
description = "A bag of subwords for tests"
[data]
languages = ["en", "de", "pt"]
held_out = ["zh"]
[tokenizer]
vocabulary = 400
[text]
encoder = "bag"
embeddings = "picture-verified"
width = 32
token_dropout = 0.3
[vision]
backbone = "weights/tiny"
training = "frozen"
space = "whitened"
whitening = 0.5
views = 2
average_views = true
image_size = 32
[head]
dimension = 32
text = "none"
[objectives.visual_regression]
[objectives.cross_modal]
weight = 0.1
[objectives.transitive]
weight = 0.03
normalise = "positives"
[optimiser]
epochs = 25
batch_size = 64
learning_rate = 1e-2
schedule = "linear"
[run]
threads = 1
validate_every = 25
checkpoint_every = 25
"""


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a backbone at weights/tiny. Not to be changed: copy it first."""
    folder = tmp_path_factory.mktemp("drawn")
    write_synthetic(folder, pictures=500, size=32)
    write_tiny_backbone(folder / "weights" / "tiny")
    return folder


@pytest.fixture(scope="session")
def three(drawn: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A finished run of en, de and pt. Not to be changed: copy it first."""
    folder = tmp_path_factory.mktemp("three")
    return train(recipe(BAG, folder), drawn, folder / "run")
