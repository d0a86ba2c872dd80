from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from training.loop.prepare import prepare
from training.loop.run import Run
from training.loop.source import CaptionSource
from training.loop.validation import embed_pictures, embed_texts, validate


@pytest.fixture(scope="module")
def prepared(data: Path, bag_run: Run) -> CaptionSource:
    return prepare(bag_run, data)


def recalls(similarities: NDArray[np.float64], owners: list[int]) -> float:
    """R@1 + R@5 + R@10 of (pictures, captions) similarities in both directions, by sorting."""
    total = 0.0
    for k in (1, 5, 10):
        found = [owner in np.argsort(-similarities[:, i])[:k] for i, owner in enumerate(owners)]
        total += 100 * float(np.mean(found))
        hits = [
            any(owners[i] == picture for i in np.argsort(-row)[:k])
            for picture, row in enumerate(similarities)
        ]
        total += 100 * float(np.mean(hits))
    return total


def test_it_is_retrieval_between_pictures_and_captions_of_one_language(prepared: CaptionSource) -> None:
    model, given = prepared.model.eval(), prepared.validation
    found = validate(model, given, prepared.device)
    assert set(found) == {"en", "de", "pt"}
    with torch.inference_mode():
        texts = embed_texts(model, given.tokens, prepared.device).astype(np.float64)
        pictures = embed_pictures(model, given.pictures, len(given.data.pictures), prepared.device)
    for language, value in found.items():
        rows = [i for i, caption in enumerate(given.data.captions) if caption.language == language]
        seen = sorted({given.data.captions[i].picture for i in rows})
        owners = [seen.index(given.data.captions[i].picture) for i in rows]
        similarities = pictures[seen].astype(np.float64) @ texts[rows].T
        assert value == pytest.approx(recalls(similarities, owners), abs=1e-6)
        assert len(seen) == 5, "each language among its own pictures, a third of the fifteen"


@pytest.mark.parametrize("training", [True, False])
def test_it_leaves_mode_and_random_state(prepared: CaptionSource, training: bool) -> None:
    prepared.model.train(training)
    state = torch.get_rng_state()
    one = validate(prepared.model, prepared.validation, prepared.device)
    assert prepared.model.training is training
    assert torch.equal(torch.get_rng_state(), state)
    assert validate(prepared.model, prepared.validation, prepared.device) == one
