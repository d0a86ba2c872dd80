"""Two processes on the CPU (gloo), as torchrun starts them, against one."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from index.errors import UsageError
from tests.training.tiny import BAG, TRANSFORMER, recipe, write_recipe
from training.loop.distributed import Processes
from training.loop.run import Run, open_run
from training.loop.training_loop import train

PATIENCE = 240.0
# Trains until a step, then dies in every process as a preempted machine would.
DIE = """
import os, sys
from pathlib import Path
from training.loop.training_loop import Loop, train
from training.recipes.recipe import load_recipe

real = Loop._step

def fatal(self, chunks):
    if self.counters.step == int(sys.argv[1]):
        os._exit(9)
    real(self, chunks)

Loop._step = fatal
train(load_recipe(sys.argv[2], sys.argv[5:]), Path(sys.argv[3]), Path(sys.argv[4]))
"""


def together(*words: str) -> subprocess.CompletedProcess[str]:
    """Two processes of a program."""
    started = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [*started, *words], capture_output=True, text=True, env=env, timeout=PATIENCE, check=False
    )


def command(file: Path, data: Path, out: Path, overrides: tuple[str, ...], *more: str) -> list[str]:
    sets = [word for override in overrides for word in ("--set", override)]
    return ["-m", "passepartout", "train", str(file), *sets, "--data", str(data), "--out", str(out), *more]


def entries(run: Path) -> list[dict[str, Any]]:
    return list(map(json.loads, (run / "log.jsonl").read_text("utf-8").splitlines()))


def like(ours: Path, whole: Run) -> None:
    """The same log, result and weights, as far as sums in another order are the same."""
    pairs = list(zip(entries(ours), entries(whole.folder), strict=True))
    for one, other in pairs:
        assert one.pop("languages", {}) == pytest.approx(other.pop("languages", {}), rel=1e-3)
        assert one == pytest.approx(other, rel=1e-3)
    result = open_run(ours).result()
    assert {**result, "seconds": 0} == {**whole.result(), "seconds": 0}
    found, expected = (load_file(folder / "last.safetensors") for folder in (ours, whole.folder))
    assert set(found) == set(expected)
    for name, tensor in expected.items():
        if name.startswith("model."):
            assert (found[name].float() - tensor.float()).abs().max() < 2e-3, name


def test_two_processes_broken_and_resumed_draw_as_one_does(data: Path, tmp_path: Path) -> None:
    """A tuned backbone; dropout, masks and views drawn; chunks in each process; killed after a checkpoint."""
    overrides = ("optimiser.chunk_size=8", "optimiser.epochs=3", "run.checkpoint_every=1")
    whole = train(recipe(TRANSFORMER, tmp_path, *overrides), data, tmp_path / "whole")
    file, out = write_recipe(TRANSFORMER, tmp_path), tmp_path / "run"
    script = tmp_path / "die.py"
    script.write_text(DIE)
    died = together(str(script), "6", str(file), str(data), str(out), *overrides)
    assert died.returncode != 0
    assert (out / "last.safetensors").is_file()
    assert not (out / "result.json").exists()
    done = together(*command(file, data, out, overrides, "--resume"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("sum of recalls") == 1, "one of them speaks"
    like(out, whole)


def test_more_processes_than_pictures_in_a_batch_are_refused(data: Path, tmp_path: Path) -> None:
    file = write_recipe(BAG, tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("training.loop.training_loop.joined", lambda: Pretended(40))
        with pytest.raises(UsageError, match="40 processes share batches of 30 pictures"):
            train(recipe(BAG, file.parent), data, tmp_path / "run")


class Pretended:
    """Many processes of which only the first is there: for what is refused before anything is exchanged."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __enter__(self) -> Processes:
        return type("Alone", (Processes,), {"wait": lambda _: None})(0, self.count)

    def __exit__(self, *_: object) -> None:
        pass
