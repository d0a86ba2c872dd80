"""Denoising and back-translation: what is read, what must be written, and that writing can be learned."""

import numpy as np
import torch
from torch import Tensor

from training.data.tokens import PAD_ID, SEQUENCE_ID, pad
from training.encoders.transformer import Transformer, TransformerSettings
from training.encoders.translation import Translation
from training.objectives import Denoising

CPU = torch.device("cpu")
VOCABULARY, LANGUAGES = 12, 2
SENTENCES = [[SEQUENCE_ID, 5, 6, 7], [SEQUENCE_ID, 8], [SEQUENCE_ID, 9, 10]]
SPOKEN = torch.tensor([0, 1, 0])
CLEAN = Denoising(drop=0, blank=0, reach=0)


def built() -> tuple[Transformer, Translation]:
    torch.manual_seed(0)
    settings = TransformerSettings(
        encoder="transformer", width=16, layers=1, heads=2, feedforward=32, max_tokens=10, dropout=0
    )
    encoder = settings.build(VOCABULARY)
    return encoder, Translation(encoder, LANGUAGES)


def batch(sentences: list[list[int]] = SENTENCES) -> tuple[Tensor, Tensor]:
    return pad([np.array(row, np.int32) for row in sentences], CPU)


def test_every_token_and_then_the_end_must_be_written() -> None:
    encoder, translation = built()
    logits, truth = translation.denoise(encoder, CLEAN, *batch(), SPOKEN)
    assert truth.tolist() == [5, 6, 7, SEQUENCE_ID, 8, SEQUENCE_ID, 9, 10, SEQUENCE_ID]
    assert logits.shape == (9, VOCABULARY)


def test_a_token_is_written_without_seeing_it_or_what_follows() -> None:
    encoder, translation = built()
    ids, mask = batch()
    states = encoder.eval().states(ids, mask).detach()
    translation.eval()
    before, _ = translation.decoder.surprise(states, mask, ids, mask, SPOKEN)
    other = ids.clone()
    other[0, 2] = 11  # was 6
    after, _ = translation.decoder.surprise(states, mask, other, mask, SPOKEN)
    changed = (before - after).abs().amax(dim=1) > 1e-6
    assert changed[:4].tolist() == [False, False, True, True]
    assert not changed[4:].any()


def test_it_learns_to_write_what_it_reads_and_stops() -> None:
    encoder, translation = built()
    parameters = {*encoder.parameters(), *translation.parameters()}
    optimiser = torch.optim.Adam(parameters, lr=1e-2)
    ids, mask = batch()
    for _ in range(150):
        loss = torch.nn.functional.cross_entropy(*translation.denoise(encoder, CLEAN, ids, mask, SPOKEN))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    encoder.eval()
    translation.eval()
    found, read = translation.decoder.write(encoder.states(ids, mask), mask, SPOKEN)
    width = ids.shape[1]
    assert torch.equal(found[:, :width], ids)
    assert torch.equal(read[:, :width], mask)
    assert not read[:, width:].any()


def test_what_is_written_reads_like_a_sentence() -> None:
    encoder, translation = built()
    ids, mask = batch()
    found, read = translation.decoder.write(encoder.states(ids, mask), mask, SPOKEN)
    assert (found[:, 0] == SEQUENCE_ID).all()
    assert (read.diff(dim=1) <= 0).all()
    assert torch.equal(found == PAD_ID, read == 0)
    assert found.shape[1] <= 10


def test_a_translation_goes_into_another_language_and_carries_no_gradient() -> None:
    encoder, translation = built()
    asked: list[Tensor] = []
    write = translation.decoder.write

    def watched(states: Tensor, mask: Tensor, languages: Tensor) -> tuple[Tensor, Tensor]:
        assert not states.requires_grad
        assert not encoder.training
        asked.append(languages)
        return write(states, mask, languages)

    translation.decoder.write = watched  # type: ignore[method-assign]
    encoder.train()
    translation.train()
    logits, truth = translation.translate_back(encoder, 1.0, *batch(), SPOKEN)
    assert sorted(asked[0].tolist()) == [0, 1, 1], "of two languages, the other"
    assert encoder.training
    assert translation.training
    assert sorted(truth.tolist()) == sorted([5, 6, 7, 8, 9, 10, *[SEQUENCE_ID] * 3])
    logits.sum().backward()  # type: ignore[no-untyped-call]
    assert encoder.layers.layers[0].linear1.weight.grad is not None


def test_a_share_of_the_sentences_is_translated() -> None:
    encoder, translation = built()
    ends = []
    for seed in range(20):
        torch.manual_seed(seed)
        _, truth = translation.translate_back(encoder, 0.34, *batch(), SPOKEN)
        assert truth.tolist() in ([5, 6, 7, SEQUENCE_ID], [8, SEQUENCE_ID], [9, 10, SEQUENCE_ID])
        ends.append(len(truth))
    assert set(ends) == {2, 3, 4}, "each has its turn"
