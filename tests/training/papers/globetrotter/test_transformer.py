import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from training.data.tokens import PAD_ID, SEQUENCE_ID, pad
from training.papers.globetrotter.transformer import Transformer, TransformerSettings

CPU = torch.device("cpu")
VOCABULARY, LONGEST = 40, 12
sentences = st.lists(
    st.lists(st.integers(4, VOCABULARY - 1), min_size=1, max_size=LONGEST - 1), min_size=1, max_size=5
)


def encoder(**settings: object) -> Transformer:
    """Seeded and not training."""
    torch.manual_seed(0)
    shape = {"width": 16, "layers": 2, "heads": 2, "feedforward": 24, "max_tokens": LONGEST}
    table = {"encoder": "transformer", **shape, **settings}
    return TransformerSettings.model_validate(table).build(VOCABULARY, 1).eval()


MASKED, MEAN = encoder(), encoder(pooling="mean")


def rows(tokens: list[list[int]]) -> list[np.ndarray]:
    return [np.asarray([SEQUENCE_ID, *row], dtype=np.int32) for row in tokens]


@torch.no_grad()
def embed(model: Transformer, tokens: list[list[int]], pads: int = 0) -> Tensor:
    """Pooled vectors, with `pads` more pads than the batch needs."""
    ids, mask = pad(rows(tokens), CPU)
    more = torch.full((len(ids), pads), PAD_ID)
    out: Tensor = model(torch.cat([ids, more], dim=1), torch.cat([mask, torch.zeros_like(more)], dim=1))
    return out


@pytest.mark.parametrize("model", [MASKED, MEAN], ids=["first", "mean"])
@given(tokens=sentences, pads=st.integers(1, 6))
def test_padding_changes_nothing(model: Transformer, tokens: list[list[int]], pads: int) -> None:
    pads = min(pads, LONGEST - 1 - max(map(len, tokens)))
    assert torch.allclose(embed(model, tokens, pads), embed(model, tokens), atol=1e-5)


def test_pooling_reads_the_first_state_or_the_mean_of_the_tokens() -> None:
    ids, mask = pad(rows([[5, 6, 7], [8]]), CPU)
    with torch.no_grad():
        states = MASKED.states(ids, mask)
    assert states.shape == (2, 4, 16)
    assert torch.equal(MASKED.pool(states, mask), states[:, 0])
    means = torch.stack([states[0].mean(dim=0), states[1, :2].mean(dim=0)])
    assert torch.allclose(MEAN.pool(states, mask), means, atol=1e-6)
