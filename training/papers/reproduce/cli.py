"""`passepartout reproduce`: a paper's experiments on your data, within a budget of time, as one report."""

import math
import shlex
from pathlib import Path

import click

from index.errors import UsageError

FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("paper", type=click.Choice(["globetrotter"]))
@click.option("--data", type=FOLDER, required=True, help="The data folder (docs/data.md).")
@click.option(
    "--out", type=FOLDER, required=True, help="The report's folder; an interrupted run there is continued."
)
@click.option(
    "--budget", type=click.FloatRange(0), metavar="MINUTES", help="Stop after this long. [default: no limit]"
)
@click.option("--seeds", default="0,1,2", show_default=True)
@click.option(
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="Run only these steps, such as 'sentences.best.*'; repeatable.",
)
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Set a key of every recipe; repeatable."
)
def reproduce(
    paper: str,
    data: Path,
    out: Path,
    budget: float | None,
    seeds: str,
    only: tuple[str, ...],
    overrides: tuple[str, ...],
) -> None:
    """Repeat the experiments of PAPER, the most important ones first (docs/reproduce.md)."""
    from evaluation.reports.summary import reproduce as run_and_report
    from training.papers.reproduce.globetrotter import globetrotter
    from training.papers.reproduce.study import Study, choose

    study = Study(data, _numbers(seeds), overrides)
    steps = choose(globetrotter(study), study, only, out)
    command = _command(paper, data, out, budget, seeds, only, overrides)
    minutes = math.inf if budget is None else budget
    run_and_report(f"{paper.capitalize()} reproduced", command, steps, out, minutes, click.echo)


def _numbers(seeds: str) -> tuple[int, ...]:
    try:
        found = tuple(int(seed) for seed in seeds.split(","))
    except ValueError:
        found = ()
    if not found or min(found) < 0 or len(set(found)) < len(found):
        raise UsageError(f"--seeds {seeds}: give whole numbers from 0, each once, separated by commas: 0,1,2")
    return found


def _command(
    paper: str,
    data: Path,
    out: Path,
    budget: float | None,
    seeds: str,
    only: tuple[str, ...],
    overrides: tuple[str, ...],
) -> str:
    """The command as it is written in the report."""
    words = ["passepartout", "reproduce", paper, "--data", str(data), "--out", str(out)]
    words += [] if budget is None else ["--budget", f"{budget:g}"]
    words += ["--seeds", seeds]
    words += [word for pattern in only for word in ("--only", pattern)]
    words += [word for override in overrides for word in ("--set", override)]
    return shlex.join(words)
