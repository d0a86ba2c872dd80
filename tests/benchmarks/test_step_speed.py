"""benchmarks/training/step_speed.py measures real epochs, and nothing else."""

import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks.training.step_speed import measure
from tests.training.tiny import BAG, write_recipe
from training.loop import training_loop as loop
from training.loop.training_loop import Loop


@pytest.mark.slow
def test_its_figures_are_those_of_steps_without_validation(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = 0.05
    step = Loop._step

    def slow(self: Loop, chunks: Any) -> None:  # noqa: ANN401
        step(self, chunks)
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass

    monkeypatch.setattr(Loop, "_step", slow)
    monkeypatch.setattr(loop, "validate", None)  # would fail
    named = f"{write_recipe(BAG, tmp_path)} optimiser.batch_size=30"
    found = measure(named, data, tmp_path / "run", epochs=2)
    assert found["captions_a_step"] == 30
    assert found["ms_a_step"] >= 1000 * seconds
    assert found["captions_a_second"] == pytest.approx(30 / found["ms_a_step"] * 1000, rel=0.01)
