import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.training.step_batches import embed
from training.data.tokens import PAD_ID, SEQUENCE_ID
from training.papers.globetrotter.transformer import Transformer, TransformerSettings

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


@pytest.mark.parametrize("model", [MASKED, MEAN], ids=["first", "mean"])
@given(tokens=sentences, pads=st.integers(1, 6))
def test_padding_changes_nothing(model: Transformer, tokens: list[list[int]], pads: int) -> None:
    rows = [[SEQUENCE_ID, *row] for row in tokens]
    pads = min(pads, LONGEST - max(map(len, rows)))
    assert torch.allclose(embed(model, rows, pads), embed(model, rows), atol=1e-5)


def test_pooling_reads_the_first_state_or_the_mean_of_the_tokens() -> None:
    ids, mask = torch.tensor([[SEQUENCE_ID, 5, 6, 7], [SEQUENCE_ID, 8, PAD_ID, PAD_ID]]), torch.ones(2, 4)
    mask[1, 2:] = 0
    with torch.no_grad():
        states = MASKED.states(ids, mask)
    assert states.shape == (2, 4, 16)
    assert torch.equal(MASKED.pool(states, mask), states[:, 0])
    means = torch.stack([states[0].mean(dim=0), states[1, :2].mean(dim=0)])
    assert torch.allclose(MEAN.pool(states, mask), means, atol=1e-6)
