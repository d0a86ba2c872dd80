"""The decoder and the two losses that write with it."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tests.training.step_batches import rows, step_of
from training.data.auxiliary import Batch
from training.data.tokens import MASK_ID, PAD_ID, SEQUENCE_ID, pad
from training.encoders.heads import UnitNorm
from training.encoders.two_branch import TwoBranch
from training.objectives import Forward, Step
from training.papers.globetrotter.lample_conneau import BackTranslation, Decoder, Denoising, Writing, noisy
from training.papers.globetrotter.transformer import TransformerSettings

CPU = torch.device("cpu")
VOCABULARY, LANGUAGES = 12, 2
SENTENCES = [[SEQUENCE_ID, 5, 6, 7], [SEQUENCE_ID, 8], [SEQUENCE_ID, 9, 10]]
SPOKEN = torch.tensor([0, 1, 0])
CLEAN = Denoising(drop=0, blank=0, reach=0)


def built() -> TwoBranch:
    torch.manual_seed(0)
    settings = TransformerSettings(
        encoder="transformer", width=16, layers=1, heads=2, feedforward=32, max_tokens=10, dropout=0
    )
    text = settings.build(VOCABULARY, LANGUAGES)
    model = TwoBranch(
        text, UnitNorm(), None, UnitNorm(), vocabulary=VOCABULARY, languages=LANGUAGES, dimension=16
    )
    model.learned["decoder"] = Decoder(text, LANGUAGES)
    return model


def decoder_of(model: TwoBranch) -> Decoder:
    decoder = model.learned["decoder"]
    assert isinstance(decoder, Decoder)
    return decoder


def written(objective: Writing, model: TwoBranch) -> tuple[Tensor, Tensor]:
    """Logits and truth of what the objective has the decoder write."""
    forward = Forward(model, Batch(*batch(), (), {"languages": SPOKEN[:, None]}), {})
    logits, truth = Step(objective.compute(forward))[objective.written]
    return logits, truth


def batch(sentences: list[list[int]] = SENTENCES) -> tuple[Tensor, Tensor]:
    return pad([np.array(row, np.int32) for row in sentences], CPU)


def test_every_token_and_then_the_end_must_be_written() -> None:
    model = built()
    logits, truth = written(CLEAN, model)
    assert truth.tolist() == [5, 6, 7, SEQUENCE_ID, 8, SEQUENCE_ID, 9, 10, SEQUENCE_ID]
    assert logits.shape == (9, VOCABULARY)


def test_a_token_is_written_without_seeing_it_or_what_follows() -> None:
    model = built()
    ids, mask = batch()
    states = model.eval().text.states(ids, mask).detach()
    before, _ = decoder_of(model).surprise(states, mask, ids, mask, SPOKEN)
    other = ids.clone()
    other[0, 2] = 11  # was 6
    after, _ = decoder_of(model).surprise(states, mask, other, mask, SPOKEN)
    changed = (before - after).abs().amax(dim=1) > 1e-6
    assert changed[:4].tolist() == [False, False, True, True]
    assert not changed[4:].any()


def test_it_learns_to_write_what_it_reads_and_stops() -> None:
    model = built()
    parameters = model.parameters()
    optimiser = torch.optim.Adam(parameters, lr=1e-2)
    ids, mask = batch()
    for _ in range(150):
        loss = torch.nn.functional.cross_entropy(*written(CLEAN, model))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    model.eval()
    found, read = decoder_of(model).write(model.text.states(ids, mask), mask, SPOKEN)
    width = ids.shape[1]
    assert torch.equal(found[:, :width], ids)
    assert torch.equal(read[:, :width], mask)
    assert not read[:, width:].any()


def test_what_is_written_reads_like_a_sentence() -> None:
    model = built()
    ids, mask = batch()
    found, read = decoder_of(model).write(model.text.states(ids, mask), mask, SPOKEN)
    assert (found[:, 0] == SEQUENCE_ID).all()
    assert (read.diff(dim=1) <= 0).all()
    assert torch.equal(found == PAD_ID, read == 0)
    assert found.shape[1] <= 10


def test_a_translation_goes_into_another_language_and_carries_no_gradient() -> None:
    model = built()
    asked: list[Tensor] = []
    write = decoder_of(model).write

    def watched(states: Tensor, mask: Tensor, languages: Tensor) -> tuple[Tensor, Tensor]:
        assert not states.requires_grad
        assert not model.text.training
        asked.append(languages)
        return write(states, mask, languages)

    decoder_of(model).write = watched  # type: ignore[method-assign]
    model.train()
    logits, truth = written(BackTranslation(), model)
    assert sorted(asked[0].tolist()) == [0, 1, 1], "of two languages, the other"
    assert model.text.training
    assert decoder_of(model).training
    assert sorted(truth.tolist()) == sorted([5, 6, 7, 8, 9, 10, *[SEQUENCE_ID] * 3])
    logits.sum().backward()  # type: ignore[no-untyped-call]
    assert model.text.get_parameter("layers.layers.0.linear1.weight").grad is not None


def test_a_share_of_the_sentences_is_translated() -> None:
    model = built()
    ends = []
    for seed in range(20):
        torch.manual_seed(seed)
        _, truth = written(BackTranslation(share=0.34), model)
        assert truth.tolist() in ([5, 6, 7, SEQUENCE_ID], [8, SEQUENCE_ID], [9, 10, SEQUENCE_ID])
        ends.append(len(truth))
    assert set(ends) == {2, 3, 4}, "each has its turn"


lengths = st.lists(st.integers(1, 9), min_size=1, max_size=6)


def sentences(lengths: list[int]) -> tuple[Tensor, Tensor]:
    """<seq> 10 11 12 ..., padded: a token says where it stood."""
    longest = max(lengths) + 1
    place = torch.arange(longest).expand(len(lengths), longest)
    mask = (place <= torch.tensor(lengths)[:, None]).long()
    ids = (place + 9).masked_fill(place == 0, SEQUENCE_ID).masked_fill(mask == 0, PAD_ID)
    return ids, mask


@given(lengths, st.integers(0, 4))
def test_without_loss_every_token_stays_within_reach(lengths: list[int], reach: int) -> None:
    ids, mask = sentences(lengths)
    found, kept = noisy(ids, mask, drop=0, blank=0, reach=reach)
    assert torch.equal(kept, mask)
    assert torch.equal(found.sort(dim=1).values, ids.sort(dim=1).values)
    place = torch.arange(ids.shape[1]).expand(ids.shape)
    words = found >= 10
    assert ((found - 9 - place)[words].abs() <= reach).all()
    if reach == 0:
        assert torch.equal(found, ids)


@given(lengths, st.floats(0, 0.99), st.floats(0, 0.99))
def test_what_is_left_begins_with_seq_keeps_a_token_and_ends_in_pads(
    lengths: list[int], drop: float, blank: float
) -> None:
    ids, mask = sentences(lengths)
    found, kept = noisy(ids, mask, drop=drop, blank=blank, reach=3)
    assert (found[:, 0] == SEQUENCE_ID).all()
    assert (kept[:, 1:].sum(dim=1) >= 1).all(), "one token at least"
    assert (kept.diff(dim=1) <= 0).all(), "pads last"
    assert torch.equal(found == PAD_ID, kept == 0)
    assert (kept.sum(dim=1) <= mask.sum(dim=1)).all()


def test_as_many_are_lost_and_hidden_as_asked_for() -> None:
    torch.manual_seed(0)
    ids, mask = sentences([200] * 50)
    found, kept = noisy(ids, mask, drop=0.1, blank=0.2, reach=3)
    lost = 1 - kept[:, 1:].sum() / mask[:, 1:].sum()
    hidden = (found == MASK_ID).sum() / kept[:, 1:].sum()
    assert abs(lost - 0.1) < 0.01
    assert abs(hidden - 0.2) < 0.015


TEXT = rows(2, 2, 0)
SHARES = torch.tensor([[0.5, 0.25, 0.25], [0.2, 0.2, 0.6]])
TRUTH = torch.tensor([0, 1])


@pytest.mark.parametrize(
    ("loss", "given"), [(Denoising(), "denoising"), (BackTranslation(), "back_translation")]
)
def test_the_mean_surprise_of_the_tokens_to_write(loss: Denoising | BackTranslation, given: str) -> None:
    """Two tokens of a vocabulary of three: -(log 1/2 + log 1/5) / 2."""
    logits = SHARES.log().requires_grad_()
    found = loss(step_of(TEXT, (), **{given: (logits, TRUTH)}))
    assert found.item() == pytest.approx(-(math.log(0.5) + math.log(0.2)) / 2)
    (gradient,) = torch.autograd.grad(found, logits)
    after = (logits - gradient).softmax(dim=1)
    assert after[0, 0] > 0.5
    assert after[1, 1] > 0.2
    assert after[1, 2] < 0.6
