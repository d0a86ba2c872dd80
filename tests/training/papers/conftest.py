"""A run that learned en, de and pt, trained once."""

from pathlib import Path

import pytest

from tests.training.tiny import BAG, recipe
from training.data.synthetic.dataset import write_synthetic
from training.data.synthetic.encoders import write_tiny_backbone
from training.loop.run import Run
from training.loop.training_loop import train

# What differs from the tiny bag: subwords shared where pictures agree, enough training.
DRAWN_BAG = (
    "name=drawn-bag",
    "seed=0",
    "tokenizer.vocabulary=400",
    "text.embeddings=picture-verified",
    "text.width=32",
    "text.token_dropout=0.3",
    "head.dimension=32",
    "optimiser.epochs=25",
    "optimiser.batch_size=64",
    "optimiser.warmup_steps=0",
    "run.validate_every=25",
    "run.checkpoint_every=25",
)


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
    return train(recipe(BAG, folder, *DRAWN_BAG), drawn, folder / "run")
