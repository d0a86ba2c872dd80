import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from training.data.augmented_pictures import Augmentation

SIDE = 24
AUGMENT = Augmentation(SIDE)
PICTURES = torch.rand(4, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(0))


@settings(max_examples=20)
@given(st.integers(0, 2**63 - 1), st.sampled_from([8, 17, 32]), st.integers(1, 3))
def test_views_keep_shape_type_and_range(seed: int, side: int, count: int) -> None:
    pictures = torch.rand(count, 3, side, side, generator=torch.Generator().manual_seed(1))
    before = pictures.clone()
    found = Augmentation(side)(pictures, seed)
    assert found.shape == pictures.shape
    assert found.dtype == torch.float32
    assert found.min() >= 0
    assert found.max() <= 1 + 1e-6
    assert torch.equal(pictures, before)


def test_the_seed_decides() -> None:
    one, same, other = (AUGMENT(PICTURES, seed) for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert torch.equal(Augmentation(SIDE)(PICTURES, 1), one)
    assert not torch.equal(one, other)


def test_hues_do_not_turn() -> None:
    """A red thing stays red: captions say so."""
    red = torch.tensor([0.8, 0.1, 0.1])[:, None, None].expand(3, SIDE, SIDE)
    views = AUGMENT(red.expand(300, -1, -1, -1), 0)  # of one batch: each is drawn for itself
    centre = views[..., SIDE // 2, SIDE // 2]
    assert (centre[:, 0] >= centre[:, 1:].amax(dim=1) - 1e-4).all()
    assert (centre[:, 1] - centre[:, 2]).abs().max() < 0.02
