"""`passepartout reproduce`: the papers' claims on your data."""

from pathlib import Path

import click

from evaluation.reports.report import running_command
from index.errors import UsageError

FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("paper")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="The data folder (docs/data.md).",
)
@click.option(
    "--out", type=FOLDER, required=True, help="The report's folder; an interrupted run there is continued."
)
@click.option("--seeds", default="0,1,2", show_default=True)
@click.option(
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="Only what matches CLAIM.SYSTEM.SEED, such as 'sentences.best.*'; repeatable.",
)
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Set a key of every recipe; repeatable."
)
def reproduce(
    paper: str,
    data: Path,
    out: Path,
    seeds: str,
    only: tuple[str, ...],
    overrides: tuple[str, ...],
) -> None:
    """Put the claims of PAPER to the test: train and measure the systems that show them, over seeds.

    PAPER is globetrotter, mule, smalr, pseudopairs, caption_tuning, or united, which joins them.
    """
    from training.papers.study import Study, papers, read_claims

    files = papers()
    if paper not in files:
        raise UsageError(f"no paper {paper}; there are {', '.join(files)}")

    study = Study(read_claims(files[paper]), data, out, _numbers(seeds), overrides)
    trials = study.trials(only)
    study.run(trials, f"{paper}, reproduced", running_command(), click.echo)


def _numbers(seeds: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(seed) for seed in seeds.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 0 or len(set(numbers)) < len(numbers):
        raise UsageError(f"--seeds {seeds}: give whole numbers from 0, each once, separated by commas: 0,1,2")
    return numbers
