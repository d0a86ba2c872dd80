"""`passepartout train`, killed with SIGKILL while it trains, and resumed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.training.tiny import FROZEN, TRANSFORMER, recipe, write_recipe
from tests.waiting import until
from training.loop.run import Run
from training.loop.training_loop import train

# Dropout, masking, views drawn by chance; validated, checkpointed, logged at different times.
OVERRIDES = (
    *FROZEN,
    "optimiser.epochs=30",
    "run.validate_every=2",
    "run.checkpoint_every=5",
)
PATIENCE = 120.0


def logs_beyond_a_checkpoint(run: Path) -> bool:
    """Epoch 18 or so: the log and perhaps the best checkpoint are ahead of the last one."""
    return (run / "last.safetensors").exists() and (run / "log.jsonl").read_text("utf-8").count("\n") > 15


def command(file: Path, data: Path, out: Path) -> list[str]:
    sets = [word for override in OVERRIDES for word in ("--set", override)]
    return [
        *(sys.executable, "-m", "passepartout", "train", str(file), *sets),
        *("--data", str(data), "--out", str(out), "--resume"),
    ]


def kill_when(moment: Callable[[Path], bool], words: list[str], run: Path) -> None:
    """Start the command and kill it, as soon as the moment has come."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def has_come() -> bool:
        assert process.poll() is None, "it ended before it could be killed"
        return moment(run)

    try:
        until(has_come, f"not yet {moment.__name__}", PATIENCE, every=0.002)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL, "it ended before it could be killed"
    assert not (run / "result.json").exists()


def entries(run: Path) -> list[dict[str, Any]]:
    return list(map(json.loads, (run / "log.jsonl").read_text("utf-8").splitlines()))


@pytest.fixture(scope="module")
def unbroken(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("unbroken")
    return train(recipe(TRANSFORMER, folder, *OVERRIDES), data, folder / "run")


def test_a_run_killed_ends_like_an_unbroken_one(unbroken: Run, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = command(write_recipe(TRANSFORMER, tmp_path), data, out)
    kill_when(logs_beyond_a_checkpoint, words, out)
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert entries(out) == entries(unbroken.folder)
    result, expected = (json.loads((run / "result.json").read_text()) for run in (out, unbroken.folder))
    assert result | {"seconds": 0} == expected | {"seconds": 0}
    ours, theirs = load_file(out / "best.safetensors"), load_file(unbroken.best_file)
    assert set(ours) == set(theirs)
    assert all(torch.allclose(ours[name], theirs[name], atol=1e-5) for name in theirs)
    assert f"sum of recalls {expected['sum_of_recalls']} at epoch {expected['best_epoch']}" in done.stdout
