"""Checkpoints as files; that nothing is lost by one: tests/training/loop/test_training_loop.py."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from index.errors import DamagedError
from training.loop.checkpoint import Counters, load_best, load_last, save_best, save_last

COUNTERS = Counters(epoch=3, step=41, best=123.25, best_epoch=2, log_size=999, seconds=1.5)


def made(seed: int = 0, width: int = 4) -> tuple[nn.Linear, torch.optim.Optimizer]:
    torch.manual_seed(seed)
    model = nn.Linear(width, 9)
    return model, torch.optim.AdamW(model.parameters(), lr=0.1)


def test_the_best_is_the_model_alone(tmp_path: Path) -> None:
    model, _ = made()
    save_best(tmp_path / "best", model, COUNTERS)
    again, its = made(seed=1)
    assert load_best(tmp_path / "best", again) == COUNTERS
    assert torch.equal(again.weight, model.weight)
    assert all(name.startswith("model.") for name in load_file(tmp_path / "best"))
    with pytest.raises(DamagedError, match="without its optimiser"):
        load_last(tmp_path / "best", again, its)


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    file = tmp_path / "last.safetensors"
    model, optimiser = made()
    save_last(file, model, optimiser, COUNTERS)
    good = file.read_bytes()
    for content in (b"", b"spam" * 50, good[:20], good[:-10], good + b"x"):
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
    save_file({"model.bias": torch.ones(9)}, tmp_path / "best", metadata=metadata)
    with pytest.raises(DamagedError, match="is not a readable checkpoint"):
        load_best(tmp_path / "best", model)


def test_a_checkpoint_of_another_shape_does_not_fit(tmp_path: Path) -> None:
    save_best(tmp_path / "best", made(width=6)[0], COUNTERS)
    with pytest.raises(DamagedError, match="does not fit the run's recipe"):
        load_best(tmp_path / "best", made()[0])
