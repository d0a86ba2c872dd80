"""Recipes that take a way of their own through the model go the whole of it: train, export, encode."""

from pathlib import Path

import numpy as np
import pytest

from index.encoder.text_encoder import TextEncoder
from tests.training.papers.conftest import TINY
from training.export.bundle import export_run
from training.loop.run import Run
from training.loop.training_loop import train
from training.recipes.recipe import Recipe, load_recipe

OWN = ('data.languages=["en","de","pt"]', "text.max_tokens=24", "optimiser.epochs=2")
TRANSFORMER = ("text.layers=1", "text.heads=2", "text.feedforward=32")
SIZES = {
    "sigurdsson": ("head.dimension=8",),
    "text-only": (*TRANSFORMER, "head.dimension=16"),
}


def tiny(name: str, *more: str) -> Recipe:
    return load_recipe(name, (*TINY, *OWN, *SIZES[name], *more))


@pytest.fixture(scope="module", params=sorted(SIZES))
def run(request: pytest.FixtureRequest, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train(tiny(request.param), data, tmp_path_factory.mktemp(request.param) / "run")


def test_it_becomes_an_encoder_like_any_other(run: Run, data: Path, tmp_path: Path) -> None:
    bundle = export_run(run.folder, data, tmp_path / "bundle", name=None, version="1", licence="CC0-1.0")
    encoder = TextEncoder(bundle)
    vectors = encoder.encode(["a red ball", "ein roter Ball", "uma bola vermelha", ""])
    assert vectors.shape == (4, bundle.manifest.dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert encoder.word_vectors(["ball"], "en").shape == (1, bundle.manifest.dimension)
    assert len({tuple(row) for row in vectors.round(4).tolist()}) > 1
