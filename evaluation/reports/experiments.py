"""Experiments as a list of steps, which run within a budget of minutes and can be interrupted and resumed.

A finished step leaves results/STEP.json in OUT, written atomically, and is not run again. An interrupted step
resumes from its folder work/STEP. Both names include the step's key, so that results of other data or of
another recipe are never mixed up. summary.py writes the report.
"""

import fcntl
import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from evaluation.measures.scores import ALL_PAIRS, Table
from evaluation.reports.report import pair_matrix
from index.errors import DamagedError, PassepartoutError, UsageError
from index.progress import duration
from index.storage.files import replace_text

EXPERIMENT_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class Matrix(BaseModel):
    """A measure by pair of languages: row of the queries' language, column of the answers'; null: none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    languages: tuple[str, ...]
    values: tuple[tuple[FiniteFloat | None, ...], ...]

    def array(self) -> NDArray[np.float64]:
        """(n, n), NaN where there is none."""
        return np.array(self.values, np.float64)


class Outcome(BaseModel):
    """What a step measured: figures and matrices by measure, as `report.NAMES` has them or any other name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    measures: dict[str, FiniteFloat]
    matrices: dict[str, Matrix] = Field(default_factory=dict)


class Result(Outcome):
    """An outcome on disk: of which step, and how long the run that finished it took."""

    step: str
    key: str
    seconds: float = Field(ge=0)


@dataclass(frozen=True)
class Experiment:
    """A table of the report: systems in rows, measures in columns; `headline` is drawn as bars.

    `ceiling`: the system whose headline counts as 100 %; the table then says what share the others reach.
    """

    name: str
    title: str
    note: str
    headline: str
    ceiling: str = ""


Run = Callable[[Path, Mapping[str, Path]], Outcome]


@dataclass(frozen=True)
class Step:
    """One run of one system with one seed.

    `run` gets the step's own folder, which may hold what an interrupted run left, and by name the folders of
    the steps in `needs`. `minutes` is an estimate until a run of the same system has been timed. `key` stands
    for all that the outcome depends on: recipe, data, seed.
    """

    experiment: Experiment
    system: str
    minutes: float
    run: Run
    seed: int = 0
    key: str = ""
    needs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.experiment.name}.{self.system}.{self.seed}"

    @property
    def file(self) -> str:
        """The name of its folder and its result: never the key itself, which may be anything."""
        return f"{self.name}-{hashlib.sha256(self.key.encode()).hexdigest()[:8]}"


@dataclass
class State:
    """The progress of the list: results by step, failures, and unfinished steps with the reason."""

    results: dict[str, Result] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)


def outcome(table: Table, group: str = ALL_PAIRS, prefix: str = "") -> Outcome:
    """A table of a suite as an outcome: the means over a group of languages, and the matrices it draws."""
    matrices = {
        prefix + key: Matrix(languages=table.languages, values=_nulls(pair_matrix(table, key)))
        for key in table.drawn
    }
    return Outcome(
        measures={prefix + key: value for key, value in table.means[group].items()}, matrices=matrices
    )


def run_steps(
    steps: Sequence[Step],
    out: Path,
    minutes: float,
    *,
    say: Callable[[str], None] = lambda line: None,
    after: Callable[[State], None] = lambda state: None,
    clock: Callable[[], float] = time.monotonic,
) -> State:
    """Run, in order, the unfinished steps that are likely to fit into the remaining `minutes`.

    Steps that are too long are skipped, and shorter ones after them still run. If a step fails
    (PassepartoutError), this is reported and the others continue. `say` is called with a line for each step,
    `after` with the state after each.
    Raises UsageError for a list that cannot be run and while another process runs in `out`, DamagedError for
    a result that cannot be read.
    """
    check_steps(steps)
    with _alone(out):
        state = State({step.name: result for step in steps if (result := read_result(out, step))})
        began = clock()
        for step in steps:
            if step.name in state.results:
                continue
            spent = (clock() - began) / 60
            if reason := _obstacle(step, estimate(step, steps, state), minutes - spent, state):
                state.left[step.name] = reason
                say(f"{step.name}: left, {reason}")
            else:
                say(f"{step.name}: about {duration(60 * estimate(step, steps, state))}")
                _attempt(step, steps, out, state, clock)
                say(f"{step.name}: {_ending(step, state)}")
                after(state)
    return state


def check_steps(steps: Sequence[Step]) -> None:
    """Raise UsageError unless names are plain and unique, and steps need only earlier steps."""
    before: set[str] = set()
    for step in steps:
        for part in (step.experiment.name, step.system):
            if not EXPERIMENT_NAME.fullmatch(part):
                raise UsageError(f"{part!r} is not a step name: use lower-case letters, digits, - and _")
        if step.name in before:
            raise UsageError(f"step {step.name} is listed twice: give another seed or system")
        if missing := set(step.needs) - before:
            raise UsageError(f"step {step.name} needs {', '.join(sorted(missing))}: put that before it")
        before.add(step.name)


def estimate(step: Step, steps: Sequence[Step], state: State) -> float:
    """Estimate the minutes of a step: the mean of its system's finished ones, or else its own estimate."""
    same = {(step.experiment.name, step.system)}
    timed = [
        state.results[other.name].seconds / 60
        for other in steps
        if other.name in state.results and (other.experiment.name, other.system) in same
    ]
    return float(np.mean(timed)) if timed else step.minutes


def read_result(out: Path, step: Step) -> Result | None:
    """The result of a finished step; None if it is not finished. DamagedError if it cannot be read."""
    path = out / "results" / f"{step.file}.json"
    try:
        return Result.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise DamagedError(f"{path}: no result of a step: remove it to run the step again") from error


def _obstacle(step: Step, minutes: float, remaining: float, state: State) -> str:
    """Why a step cannot be run now; empty if it can."""
    if missing := [name for name in step.needs if name not in state.results]:
        return f"needs {', '.join(missing)}"
    if minutes > remaining:
        return f"about {duration(60 * minutes)}, over the budget"
    return ""


def _attempt(step: Step, steps: Sequence[Step], out: Path, state: State, clock: Callable[[], float]) -> None:
    folder, began = _folder(out, step), clock()
    needed = {other.name: _folder(out, other) for other in steps if other.name in step.needs}
    folder.mkdir(parents=True, exist_ok=True)
    try:
        result_of_run = step.run(folder, needed)
    except (PassepartoutError, ValidationError) as error:  # figures that are not finite are no outcome
        state.failed[step.name] = " ".join(str(error).split())
        return
    result = Result(step=step.name, key=step.key, seconds=clock() - began, **result_of_run.model_dump())
    (out / "results").mkdir(exist_ok=True)
    text = json.dumps(result.model_dump(), ensure_ascii=False, indent=1)
    replace_text(out / "results" / f"{step.file}.json", text + "\n")
    state.results[step.name] = result


def _ending(step: Step, state: State) -> str:
    if step.name in state.failed:
        return f"failed: {state.failed[step.name]}"
    return f"done in {duration(state.results[step.name].seconds)}"


def _folder(out: Path, step: Step) -> Path:
    return out / "work" / step.file


def _nulls(values: NDArray[np.float64]) -> tuple[tuple[float | None, ...], ...]:
    return tuple(tuple(None if np.isnan(value) else float(value) for value in row) for row in values)


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Keep other processes out of `out` by a lock, which the kernel releases if this process dies."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = (out / "LOCK").open("w")
    except OSError as error:
        raise UsageError(f"{out} cannot be written ({error.strerror}): give another --out") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"{out}: another run is at work there: wait, or give another --out") from None
        yield
