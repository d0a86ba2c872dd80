import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from training.data.tokens import MASK_ID, PAD_ID, SEQUENCE_ID
from training.papers.globetrotter.denoising import noisy

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
