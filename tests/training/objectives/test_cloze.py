import pytest
import torch

from tests.training.objectives.batches import rows
from training.objectives import Cloze, Outputs

TEXT = rows(2, 2, 0)


def test_the_mean_surprise_of_the_hidden_tokens() -> None:
    """Two tokens of a vocabulary of three, their shares written out: -(log 1/2 + log 1/5) / 2."""
    logits = torch.tensor([[0.5, 0.25, 0.25], [0.2, 0.2, 0.6]]).log()
    found = Cloze()(Outputs(TEXT, (), (logits, torch.tensor([0, 1]))))
    assert found.item() == pytest.approx(-(0.5 * (torch.tensor(0.5).log() + torch.tensor(0.2).log())).item())


def test_a_batch_where_nothing_is_hidden_gives_0_and_no_nan() -> None:
    logits = torch.zeros(0, 7, requires_grad=True)
    found = Cloze()(Outputs(TEXT, (), (logits, torch.zeros(0, dtype=torch.int64))))
    found.backward()  # type: ignore[no-untyped-call]
    assert found.item() == 0


def test_a_step_makes_the_hidden_token_likelier() -> None:
    logits = torch.zeros(1, 4, requires_grad=True)
    truth = torch.tensor([2])
    Cloze()(Outputs(TEXT, (), (logits, truth))).backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    after = (logits - logits.grad).softmax(dim=1)[0]
    assert after[2] > 0.25
    assert all(after[other] < 0.25 for other in (0, 1, 3))
