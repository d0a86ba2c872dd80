"""The list of steps, with toys: budget, resumption, failures, and a process that is killed in the middle."""

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from evaluation.measures.scores import PairScore, Table
from evaluation.reports.experiments import (
    Experiment,
    Matrix,
    Outcome,
    Run,
    State,
    Step,
    estimate,
    outcome,
    read_result,
    run_steps,
)
from index.errors import DamagedError, TrainingError, UsageError

ROOT = Path(__file__).parents[3]
TOYS = Experiment("toys", "Toys", "Toys that count.", "score")


class Clock:
    """Seconds that pass only when a toy says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


CLOCK = Clock()


def toy(minutes: float = 1, score: float = 1.0, log: list[Path] | None = None) -> Run:
    def run(folder: Path, needed: Mapping[str, Path]) -> Outcome:
        CLOCK.now += 60 * minutes
        if log is not None:
            log.append(folder)
        return Outcome(measures={"score": score})

    return run


def step(system: str, minutes: float = 1, run: Run | None = None, **more: object) -> Step:
    return Step(TOYS, system, minutes, run or toy(minutes), **more)  # type: ignore[arg-type]


def go(steps: list[Step], out: Path, minutes: float = 100) -> tuple[State, list[str]]:
    lines: list[str] = []
    return run_steps(steps, out, minutes, say=lines.append, clock=CLOCK), lines


def test_every_step_leaves_one_result(tmp_path: Path) -> None:
    state, lines = go([step("a", seed=1), step("b", 2)], tmp_path)
    assert list(state.results) == ["toys.a.1", "toys.b.0"]
    assert state.results["toys.b.0"].seconds == 120
    found = [json.loads(path.read_text()) for path in sorted((tmp_path / "results").iterdir())]
    assert found[0] == {
        "measures": {"score": 1.0},
        "matrices": {},
        "step": "toys.a.1",
        "key": "",
        "seconds": 60.0,
    }
    assert lines[:2] == ["toys.a.1: about 1m00s", "toys.a.1: done in 1m00s"]


def test_finished_steps_are_not_run_again(tmp_path: Path) -> None:
    log: list[Path] = []
    steps = [step("a", run=toy(log=log)), step("b", run=toy(log=log))]
    go(steps[:1], tmp_path)
    state, lines = go(steps, tmp_path)
    assert [folder.name.split("-")[0] for folder in log] == ["toys.a.0", "toys.b.0"]
    assert len(state.results) == 2
    assert not [line for line in lines if line.startswith("toys.a")]


def test_another_key_is_another_result(tmp_path: Path) -> None:
    go([step("a", key="data 1", run=toy(score=1))], tmp_path)
    state, _ = go([step("a", key="data 2", run=toy(score=2))], tmp_path)
    assert state.results["toys.a.0"].measures == {"score": 2.0}
    state, _ = go([step("a", key="data 1", run=toy(score=3))], tmp_path)
    assert state.results["toys.a.0"].measures == {"score": 1.0}


def test_what_does_not_fit_is_left_and_shorter_ones_are_run(tmp_path: Path) -> None:
    state, lines = go([step("a", 3), step("long", 8), step("b", 2)], tmp_path, minutes=10)
    assert list(state.results) == ["toys.a.0", "toys.b.0"]
    assert state.left == {"toys.long.0": "about 8m00s, over the budget"}
    assert "toys.long.0: left, about 8m00s, over the budget" in lines
    state, _ = go([step("a", 3), step("long", 8), step("b", 2)], tmp_path, minutes=10)
    assert not state.left


def test_without_a_budget_nothing_is_run_and_all_is_left(tmp_path: Path) -> None:
    state, _ = go([step("a"), step("b", needs=("toys.a.0",))], tmp_path, minutes=0)
    assert state.left == {"toys.a.0": "about 1m00s, over the budget", "toys.b.0": "needs toys.a.0"}


def test_what_a_system_took_is_the_estimate_for_its_other_seeds(tmp_path: Path) -> None:
    steps = [step("a", 1, toy(5)), step("a", 1, toy(7), seed=1), step("a", 1, seed=2), step("b", 1)]
    state, _ = go(steps, tmp_path, minutes=13)
    assert list(state.results) == ["toys.a.0", "toys.a.1", "toys.b.0"]
    assert estimate(steps[2], steps, state) == 6


def test_a_step_gets_the_folders_that_it_needs(tmp_path: Path) -> None:
    def make(folder: Path, needed: Mapping[str, Path]) -> Outcome:
        (folder / "bundle").write_text("made")
        return Outcome(measures={})

    def use(folder: Path, needed: Mapping[str, Path]) -> Outcome:
        return Outcome(measures={"length": len((needed["toys.make.0"] / "bundle").read_text())})

    steps = [step("make", run=make), step("use", run=use, needs=("toys.make.0",))]
    assert go(steps, tmp_path)[0].results["toys.use.0"].measures == {"length": 4}


def test_a_failure_is_reported_and_the_others_continue(tmp_path: Path) -> None:
    def fail(folder: Path, needed: Mapping[str, Path]) -> Outcome:
        raise TrainingError("the loss is\nnot finite")

    def broken(folder: Path, needed: Mapping[str, Path]) -> Outcome:
        return Outcome(measures={"score": float("nan")})

    steps = [
        step("fails", run=fail),
        step("broken", run=broken),
        step("after", needs=("toys.fails.0",)),
        step("other"),
    ]
    state, lines = go(steps, tmp_path)
    assert state.failed["toys.fails.0"] == "the loss is not finite"
    assert "finite number" in state.failed["toys.broken.0"]
    assert state.left == {"toys.after.0": "needs toys.fails.0"}
    assert list(state.results) == ["toys.other.0"]
    assert "toys.fails.0: failed: the loss is not finite" in lines
    steps[0] = step("fails")
    assert len(go(steps, tmp_path)[0].results) == 3


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([step("a"), step("a")], "toys.a.0 is listed twice"),
        ([step("../a")], "'../a' is not a step name"),
        ([step("b", needs=("toys.a.0",)), step("a")], "toys.b.0 needs toys.a.0: put that before it"),
    ],
)
def test_lists_that_cannot_be_run(steps: list[Step], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        go(steps, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_damaged_result_is_named(tmp_path: Path) -> None:
    one = step("a")
    go([one], tmp_path)
    path = tmp_path / "results" / f"{one.file}.json"
    path.write_text(path.read_text()[:-10])
    with pytest.raises(DamagedError, match="remove it to run the step again"):
        read_result(tmp_path, one)


def test_a_folder_that_cannot_be_is_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match="give another --out"):
        go([step("a")], tmp_path / "file" / "out")


def test_a_table_is_an_outcome() -> None:
    pairs = (PairScore("en", "de", 4, {"r": 25.0}), PairScore("de", "en", 4, {"r": 35.0}))
    table = Table("t", "", 4, ("en", "de"), {"all": {"r": 30.0}, "de": {"r": 1.0}}, pairs, ("r",))
    found = outcome(table, prefix="pool_")
    assert found.measures == {"pool_r": 30.0}
    assert found.matrices["pool_r"] == Matrix(languages=("en", "de"), values=((None, 25.0), (35.0, None)))
    assert outcome(table, "de").measures == {"r": 1.0}


SCRIPT = """
import sys
from pathlib import Path
from evaluation.reports.experiments import Experiment, Outcome, Step
from evaluation.reports.summary import reproduce

out = Path(sys.argv[1])
toys = Experiment("toys", "Toys", "Toys.", "score")

def quick(folder, needed):
    with (out / "log").open("a") as log:
        log.write("quick\\n")
    return Outcome(measures={"score": 1})

def slow(folder, needed):
    half = folder / "half"
    if half.exists():  # what the run that was killed has left
        return Outcome(measures={"score": float(half.read_text())})
    half.write_text("42")
    print("half", flush=True)
    sys.stdin.read()

steps = [Step(toys, "quick", 1, quick), Step(toys, "slow", 1, slow), Step(toys, "last", 1, quick)]
reproduce("Toys", "toys", steps, out, 60, print)
"""


def run(script: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(script), str(out)])
    runpy.run_path(str(script))


def test_a_killed_run_resumes_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, out = tmp_path / "script.py", tmp_path / "out"
    script.write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, script, out]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert any(line == "half\n" for line in process.stdout)
        with pytest.raises(UsageError, match="another run is at work there"):
            run(script, out, monkeypatch)
        process.kill()
    assert "1 of 3 steps done" in (out / "report.md").read_text("utf-8")
    run(script, out, monkeypatch)
    assert (out / "log").read_text() == "quick\nquick\n"
    report = (out / "report.md").read_text("utf-8")
    assert "3 of 3 steps done" in report
    assert "| slow | 42.0 | 1 | 0.0 |" in report
