from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from index.errors import DamagedError
from training.loop.checkpoint import Counters, load_best, load_last, save_best, save_last

COUNTERS = Counters(epoch=3, step=41, best=123.25, best_epoch=2, log_size=999, seconds=1.5)


class Tied(nn.Module):
    """Dropout, batch statistics and a tied weight: all that a checkpoint must carry."""

    def __init__(self, width: int = 4) -> None:
        super().__init__()
        self.tokens = nn.Embedding(9, width)
        self.norm = nn.BatchNorm1d(width)
        self.dropout = nn.Dropout(0.5)
        self.out = nn.Linear(width, 9)
        self.out.weight = self.tokens.weight
        self.idle = nn.Parameter(torch.ones(2))  # never has a gradient

    def forward(self, ids: Tensor) -> Tensor:
        out: Tensor = self.out(self.dropout(self.norm(self.tokens(ids))))
        return out


def made(seed: int = 0, width: int = 4) -> tuple[Tied, torch.optim.Optimizer]:
    torch.manual_seed(seed)
    model = Tied(width)
    return model, torch.optim.AdamW(model.parameters(), lr=0.1)


def learn(model: Tied, optimiser: torch.optim.Optimizer, steps: int) -> None:
    for _ in range(steps):
        loss = model(torch.tensor([1, 2, 3, 4])).square().sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def same(one: nn.Module, other: nn.Module) -> bool:
    pairs = zip(one.state_dict().items(), other.state_dict().items(), strict=True)
    return all(a[0] == b[0] and torch.equal(a[1], b[1]) for a, b in pairs)


def test_going_on_is_as_if_nothing_had_happened(tmp_path: Path) -> None:
    """Weights, Adam's moments, batch statistics and the dropout's random state, all to the bit."""
    file = tmp_path / "last.safetensors"
    model, optimiser = made()
    learn(model, optimiser, 5)
    save_last(file, model, optimiser, COUNTERS)
    learn(model, optimiser, 5)
    again, its = made(seed=1)
    assert not same(again, model)
    assert load_last(file, again, its) == COUNTERS
    learn(again, its, 5)
    assert same(again, model)
    assert again.out.weight is again.tokens.weight


def test_saving_disturbs_nothing(tmp_path: Path) -> None:
    one, other = made(), made()
    torch.manual_seed(7)
    learn(*one, steps=2)
    save_last(tmp_path / "last", *one, COUNTERS)
    save_best(tmp_path / "best", one[0], COUNTERS)
    learn(*one, steps=2)
    torch.manual_seed(7)
    learn(*other, steps=4)
    assert same(one[0], other[0])


def test_the_best_is_the_model_alone(tmp_path: Path) -> None:
    model, optimiser = made()
    learn(model, optimiser, 2)
    save_best(tmp_path / "best", model, COUNTERS)
    again, its = made(seed=1)
    assert load_best(tmp_path / "best", again) == COUNTERS
    assert same(again, model)
    assert all(name.startswith("model.") for name in load_file(tmp_path / "best"))
    with pytest.raises(DamagedError, match="without its optimiser"):
        load_last(tmp_path / "best", again, its)


def test_a_new_checkpoint_replaces_the_old_one_whole(tmp_path: Path) -> None:
    file = tmp_path / "last.safetensors"
    model, optimiser = made()
    save_last(file, model, optimiser, COUNTERS)
    learn(model, optimiser, 1)
    save_last(file, model, optimiser, replace(COUNTERS, epoch=4))
    again, its = made(seed=1)
    assert load_last(file, again, its).epoch == 4
    assert same(again, model)
    assert [found.name for found in tmp_path.iterdir()] == [file.name], "nothing is left behind"


def damages(file: Path) -> dict[str, bytes]:
    good = file.read_bytes()
    return {
        "empty": b"",
        "noise": b"spam" * 50,
        "header cut": good[:20],
        "tensors cut": good[:-10],
        "longer": good + b"x",
    }


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    file = tmp_path / "last.safetensors"
    model, optimiser = made()
    save_last(file, model, optimiser, COUNTERS)
    for content in damages(file).values():
        file.write_bytes(content)
        with pytest.raises(DamagedError, match=r"last\.safetensors is not a readable checkpoint") as caught:
            load_last(file, model, optimiser)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "metadata",
    [None, {"other": "1"}, {"counters": "{"}, {"counters": '{"spam": 1}'}, {"counters": "[1]"}],
    ids=["none", "others", "no JSON", "unknown", "no object"],
)
def test_counters_that_cannot_be_read_are_damage(tmp_path: Path, metadata: dict[str, str] | None) -> None:
    model, _ = made()
    save_file({"model.idle": torch.ones(2)}, tmp_path / "best", metadata=metadata)
    with pytest.raises(DamagedError, match="is not a readable checkpoint"):
        load_best(tmp_path / "best", model)


def test_a_checkpoint_of_another_shape_does_not_fit(tmp_path: Path) -> None:
    save_best(tmp_path / "best", made(width=6)[0], COUNTERS)
    with pytest.raises(DamagedError, match="does not fit the run's recipe"):
        load_best(tmp_path / "best", made()[0])
