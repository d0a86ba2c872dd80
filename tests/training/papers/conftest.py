"""A run that learned en, de and pt, trained once; drawn pictures under the names of real ones."""

import shutil
from pathlib import Path

import pytest

from tests.training.tiny import BAG, recipe
from training.loop.run import Run
from training.loop.training_loop import train
from training.smoke.drawings import LANGUAGES, TEXT_SET, write_synthetic
from training.smoke.tiny_models import write_tiny_backbone

# What differs from the tiny bag: subwords shared where pictures agree, enough training.
DRAWN_BAG = (
    "name=drawn-bag",
    "seed=0",
    "tokenizer.vocabulary=400",
    "text.encoder=verified_bag",
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


# Laid over every recipe: each is trained in seconds.
TINY = (
    'data.languages=["en","de","zh"]',
    "data.caption_kinds=[]",
    "tokenizer.vocabulary=300",
    "text.width=16",
    "head.dimension=16",
    "vision.backbone=weights/tiny",
    "vision.image_size=32",
    "vision.views=2",
    "optimiser.epochs=3",
    "optimiser.batch_size=32",
    "optimiser.warmup_steps=2",
    "run.checkpoint_every=1",
    "run.threads=1",
)


@pytest.fixture(scope="session")
def scenes(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder. Not to be changed: copy it first."""
    folder = shutil.copytree(data, tmp_path_factory.mktemp("scenes") / "data")
    (folder / "benchmark" / "synthetic_test").rename(folder / "benchmark" / "multi30k_test_2016")
    for code in LANGUAGES:
        (folder / "text" / f"{TEXT_SET}.{code}.txt").rename(folder / "text" / f"multi30k_train.{code}.txt")
    return folder
