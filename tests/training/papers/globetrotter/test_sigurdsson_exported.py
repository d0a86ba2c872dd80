"""A recipe that takes a way of its own through the model goes the whole of it: train, export, encode."""

from pathlib import Path

import numpy as np

from index.encoder.text_encoder import TextEncoder
from tests.training.papers.conftest import TINY
from training.export.bundle import export_run
from training.loop.training_loop import train
from training.recipes.recipe import load_recipe

OWN = ('data.languages=["en","de","pt"]', "text.max_tokens=24", "optimiser.epochs=2", "head.dimension=8")


def test_it_becomes_an_encoder_like_any_other(data: Path, tmp_path: Path) -> None:
    run = train(load_recipe("sigurdsson", (*TINY, *OWN)), data, tmp_path / "run")
    bundle = export_run(run.folder, data, tmp_path / "bundle", name=None, version="1", licence="CC0-1.0")
    encoder = TextEncoder(bundle)
    vectors = encoder.encode(["a red ball", "ein roter Ball", "uma bola vermelha", ""])
    assert vectors.shape == (4, bundle.manifest.dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert encoder.word_vectors(["ball"], "en").shape == (1, bundle.manifest.dimension)
    assert len({tuple(row) for row in vectors.round(4).tolist()}) > 1
