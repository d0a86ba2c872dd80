"""The report of all experiments: one table each, mean ± spread over seeds, with bars and matrices."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

import numpy as np

from evaluation.reports import document
from evaluation.reports.document import Block, Code, Grid, Heading, Picture, Text, text
from evaluation.reports.experiments import Experiment, Result, State, Step, estimate, run_steps
from evaluation.reports.report import NAMES, matrix_pictures
from index.errors import PassepartoutError
from index.progress import duration

MISSING_FIGURE = "–"


def reproduce(
    title: str,
    command: str,
    steps: Sequence[Step],
    out: Path,
    minutes: float,
    say: Callable[[str], None] = lambda line: None,
) -> State:
    """Run `steps` within `minutes` (`run_steps`) and write the report after each.

    Raises PassepartoutError at the end if steps failed, and what `run_steps` raises.
    """
    import_module("evaluation.reports.figures")  # fails before the work if the extra is missing
    state = run_steps(
        steps, out, minutes, say=say, after=lambda state: write_summary(title, command, steps, state, out)
    )
    write_summary(title, command, steps, state, out)
    say(f"{_standing(steps, state).items[0]} {out / 'report.html'}")
    if state.failed:
        raise PassepartoutError(
            f"{len(state.failed)} steps failed, see {out / 'report.md'}: repeat the command"
        )
    return state


def write_summary(title: str, command: str, steps: Sequence[Step], state: State, out: Path) -> None:
    """Write `out`/report.md with its pictures, and `out`/report.html, which needs no other file."""
    blocks = summarise(title, command, steps, state)
    files = {"report.md": document.as_markdown(blocks), "report.html": document.as_html(title, blocks)}
    document.write(out, files, blocks)


def summarise(title: str, command: str, steps: Sequence[Step], state: State) -> list[Block]:
    """The blocks of a report: the results so far, and the unfinished steps with reasons."""
    blocks: list[Block] = [Heading(1, title), Code(command), _standing(steps, state)]
    if unfinished := _unfinished(steps, state):
        blocks += [Text(unfinished, listed=True)]
    for experiment in dict.fromkeys(step.experiment for step in steps):
        experiment_steps = [step for step in steps if step.experiment == experiment]
        blocks += _experiment(experiment, experiment_steps, state.results)
    return blocks


def _standing(steps: Sequence[Step], state: State) -> Text:
    took = sum(result.seconds for result in state.results.values())
    left = sum(estimate(step, steps, state) for step in steps if step.name not in state.results)
    more = f", about {duration(60 * left)} left" if len(state.results) < len(steps) else ""
    return text(f"{len(state.results)} of {len(steps)} steps done in {duration(took)}{more}.")


def _unfinished(steps: Sequence[Step], state: State) -> tuple[str, ...]:
    lines = []
    for step in steps:
        if step.name in state.failed:
            lines.append(f"`{step.name}` failed: {state.failed[step.name]}")
        elif step.name not in state.results:
            lines.append(f"`{step.name}` left: {state.left.get(step.name, 'not begun')}")
    return tuple(lines)


def _experiment(experiment: Experiment, steps: Sequence[Step], results: Mapping[str, Result]) -> list[Block]:
    systems: dict[str, list[Result]] = {}
    for step in steps:
        results_of = systems.setdefault(step.system, [])
        if step.name in results:
            results_of.append(results[step.name])
    return [
        Heading(2, experiment.title),
        text(experiment.note, "Mean ± sample standard deviation over the seeds."),
        _table(experiment, systems),
        *_bars(experiment, systems),
        *_matrices(experiment, systems),
    ]


def _table(experiment: Experiment, systems: Mapping[str, Sequence[Result]]) -> Grid:
    keys = list(
        dict.fromkeys(key for results in systems.values() for result in results for key in result.measures)
    )
    shares = _shares(experiment, systems)
    rows = [
        [
            system,
            *(spread(_values(results, key)) for key in keys),
            *([spread(shares[system])] if shares else []),
            str(len(results)),
            spread([result.seconds / 60 for result in results]),
        ]
        for system, results in systems.items()
    ]
    headings = [NAMES.get(key, key) for key in keys]
    headings += (
        [f"{NAMES.get(experiment.headline, experiment.headline)}, % of {experiment.ceiling}"]
        if shares
        else []
    )
    return Grid(["system", *headings, "seeds", "minutes"], rows)


def _shares(experiment: Experiment, systems: Mapping[str, Sequence[Result]]) -> dict[str, list[float]]:
    """{system: per cent of the ceiling's mean reached by each run}; empty without a ceiling."""
    ceiling = _values(systems.get(experiment.ceiling, ()), experiment.headline)
    if not ceiling or not np.mean(ceiling):
        return {}
    return {
        system: [100 * value / float(np.mean(ceiling)) for value in _values(results, experiment.headline)]
        for system, results in systems.items()
    }


def _values(results: Sequence[Result], key: str) -> list[float]:
    return [result.measures[key] for result in results if key in result.measures]


def spread(values: Sequence[float]) -> str:
    """Format mean ± sample standard deviation to one decimal; a single value without deviation."""
    if not values:
        return MISSING_FIGURE
    return f"{np.mean(values):.1f}" + (f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else "")


def _bars(experiment: Experiment, systems: Mapping[str, Sequence[Result]]) -> list[Block]:
    # Imported here: running steps needs no matplotlib, the report does.
    from evaluation.reports.figures import bars

    key, rows = experiment.headline, {}
    for system, results in systems.items():
        if values := _values(results, key):
            rows[system] = (float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0)
    unit = NAMES.get(key, key)
    return [Picture(f"{experiment.name}.svg", unit, bars(rows, unit))] if rows else []


def _matrices(experiment: Experiment, systems: Mapping[str, Sequence[Result]]) -> list[Block]:
    """A picture of the mean over seeds for each system and measure with matrices."""
    blocks: list[Block] = []
    for system, results in systems.items():
        keys = dict.fromkeys(key for result in results for key in result.matrices)
        for number, key in enumerate(keys, 1):
            matrices = [result.matrices[key] for result in results if key in result.matrices]
            codes = matrices[0].languages
            alike = [matrix.array() for matrix in matrices if matrix.languages == codes]
            name, title = f"{experiment.name}-{system}-{number}", f"{system}: {NAMES.get(key, key)}"
            blocks += matrix_pictures(name, title, codes, np.mean(alike, axis=0))
    return blocks
