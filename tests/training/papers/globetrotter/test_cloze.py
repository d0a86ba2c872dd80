import pytest
import torch
from torch import nn

from tests.training.step_batches import rows, step_of
from training.papers.globetrotter.cloze import Cloze, ClozeHead

TEXT = rows(2, 2, 0)


def test_the_mean_surprise_of_the_hidden_tokens() -> None:
    """Two tokens of a vocabulary of three, their shares written out: -(log 1/2 + log 1/5) / 2."""
    logits = torch.tensor([[0.5, 0.25, 0.25], [0.2, 0.2, 0.6]]).log()
    found = Cloze()(step_of(TEXT, cloze=(logits, torch.tensor([0, 1]))))
    assert found.item() == pytest.approx(-(0.5 * (torch.tensor(0.5).log() + torch.tensor(0.2).log())).item())


def test_a_batch_where_nothing_is_hidden_gives_0_and_no_nan() -> None:
    logits = torch.zeros(0, 7, requires_grad=True)
    found = Cloze()(step_of(TEXT, cloze=(logits, torch.zeros(0, dtype=torch.int64))))
    found.backward()  # type: ignore[no-untyped-call]
    assert found.item() == 0


def test_a_step_makes_the_hidden_token_likelier() -> None:
    logits = torch.zeros(1, 4, requires_grad=True)
    truth = torch.tensor([2])
    Cloze()(step_of(TEXT, cloze=(logits, truth))).backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    after = (logits - logits.grad).softmax(dim=1)[0]
    assert after[2] > 0.25
    assert all(after[other] < 0.25 for other in (0, 1, 3))


def test_the_cloze_head_shares_the_token_embeddings() -> None:
    tokens = nn.Embedding(30, 8)
    head = ClozeHead(tokens)
    states = torch.randn(6, 8)
    logits = head(states)
    assert logits.shape == (6, 30)
    assert head.tokens.weight is tokens.weight
    with torch.no_grad():
        tokens.weight[7] *= 2
        assert not torch.allclose(head(states)[:, 7], logits[:, 7])
        assert torch.allclose(head(states)[:, 8], logits[:, 8])
