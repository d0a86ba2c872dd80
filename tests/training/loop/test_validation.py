from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from training.loop import validation
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


def test_a_model_that_knows_its_captions_by_heart_scores_600(prepared: CaptionSource) -> None:
    """Each caption's tokens replaced by one of its own, whose embedding is set to its picture."""
    given = prepared.validation
    pictures = given.pictures.plain(np.arange(len(given.data.pictures)))
    tokens = [np.asarray([4 + caption.picture], np.int32) for caption in given.data.captions]
    weights = prepared.model.text.tokens.weight
    before = weights.detach().clone()
    with torch.no_grad():
        weights[4 : 4 + len(pictures)] = pictures
    perfect = validation.ValidationSet(given.data, tokens, given.pictures)
    found = validate(prepared.model, perfect, prepared.device)
    with torch.no_grad():
        weights.copy_(before)
    assert found == {"de": 600, "en": 600, "pt": 600}


@pytest.mark.parametrize("training", [True, False])
def test_it_leaves_mode_and_random_state(prepared: CaptionSource, training: bool) -> None:
    prepared.model.train(training)
    state = torch.get_rng_state()
    one = validate(prepared.model, prepared.validation, prepared.device)
    assert prepared.model.training is training
    assert torch.equal(torch.get_rng_state(), state)
    assert validate(prepared.model, prepared.validation, prepared.device) == one


def test_batches_do_not_matter(prepared: CaptionSource, monkeypatch: pytest.MonkeyPatch) -> None:
    model, given = prepared.model.eval(), prepared.validation
    with torch.inference_mode():
        texts = embed_texts(model, given.tokens, prepared.device)
        pictures = embed_pictures(model, given.pictures, 15, prepared.device)
        monkeypatch.setattr(validation, "EMBEDDING_BATCH", 4)
        assert np.allclose(embed_texts(model, given.tokens, prepared.device), texts, atol=1e-6)
        assert np.allclose(embed_pictures(model, given.pictures, 15, prepared.device), pictures, atol=1e-6)
    assert texts.shape == (60, 16)
    assert pictures.shape == (15, 16)
    assert np.allclose(np.linalg.norm(texts, axis=1), 1, atol=1e-5)
