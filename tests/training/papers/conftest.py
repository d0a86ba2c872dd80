"""Drawn pictures under the names of real ones, and what makes recipes tiny."""

import shutil
from pathlib import Path

import pytest

from training.smoke.drawings import LANGUAGES, TEXT_SET

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
