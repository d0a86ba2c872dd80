"""`passepartout paper experiment` and `reproduce`: the papers' experiments on your data."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evaluation.reports.document import running_command
from index.errors import UsageError

if TYPE_CHECKING:  # reports need no torch, but their package's rooms do
    from training.papers.report import ExperimentReport

FOLDER = click.Path(file_okay=False, path_type=Path)
DATA = click.option("--data", type=FOLDER, required=True)
SEED_OPTION = click.option("--seed", type=click.IntRange(0), default=0, show_default=True)


@click.group()
def experiment() -> None:
    """Globetrotter's experiments with a finished encoder. Each writes a report."""


@experiment.command()
@click.option(
    "--encoder-run", "runs", type=FOLDER, required=True, multiple=True, help="A finished run; repeatable."
)
@DATA
@click.option("--epochs", type=click.IntRange(1), default=1, show_default=True)
@SEED_OPTION
@click.option("--out", type=FOLDER, required=True, help="The report's folder.")
def correspondence(runs: tuple[Path, ...], data: Path, epochs: int, seed: int, out: Path) -> None:
    """A.1: tell true from false sentence halves, in languages that the classifier was not trained on."""
    from training.papers.globetrotter import correspondence

    _write(correspondence.report(runs, data, epochs, seed), out)


@experiment.command()
@click.option("--encoder", type=FOLDER, required=True, help="A bundle or run that was trained with pictures.")
@click.option(
    "--without-vision", type=FOLDER, help="Another to compare with, such as one of recipe text-only."
)
@DATA
@click.option("--clusters", "count", type=click.IntRange(2), default=50, show_default=True)
@SEED_OPTION
@click.option("--out", type=FOLDER, required=True, help="The report's folder; it quotes captions.")
def clusters(
    encoder: Path, without_vision: Path | None, data: Path, count: int, seed: int, out: Path
) -> None:
    """A.4: do captions cluster by meaning or by language?"""
    from training.papers.frozen import open_frozen, photo_captions
    from training.papers.globetrotter import clusters

    encoders = [open_frozen(folder, data) for folder in (encoder, without_vision) if folder]
    shared = [code for code in encoders[0].languages if all(code in other.languages for other in encoders)]
    texts = photo_captions(data, "test", shared)
    _write(clusters.report(encoders, texts, count, seed), out)


@experiment.command()
@click.option("--encoder", type=FOLDER, required=True, help="A bundle or a run.")
@DATA
@click.option(
    "--set", "sets", multiple=True, default=("stamps", "storybooks"), show_default=True, help="Picture sets."
)
@click.option("--languages", default="", help="Codes, separated by commas. [default: the paper's 52]")
@click.option("--out", type=FOLDER, required=True, help="The report's folder.")
def families(encoder: Path, data: Path, sets: tuple[str, ...], languages: str, out: Path) -> None:
    """Figures 7 and 9: translation between every two languages, by family."""
    from training.papers.frozen import open_frozen
    from training.papers.globetrotter import families

    frozen = open_frozen(encoder, data)
    codes = [code.strip() for code in languages.split(",") if code.strip()] or families.PAPER_LANGUAGES
    _write(families.report(frozen, data, sets, codes), out)


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
@click.option(
    "--budget", type=click.FloatRange(0), metavar="MINUTES", help="Begin nothing later. [default: no limit]"
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
@click.pass_context
def reproduce(
    context: click.Context,
    paper: str,
    data: Path,
    out: Path,
    budget: float | None,
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

    def call(words: Sequence[str]) -> None:
        context.find_root().command.main(list(words), prog_name="passepartout", standalone_mode=False)

    study = Study(read_claims(files[paper]), data, out, _numbers(seeds), overrides, call)
    trials = study.trials(only)
    study.run(
        trials, math.inf if budget is None else budget, f"{paper}, reproduced", running_command(), click.echo
    )


def _numbers(seeds: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(seed) for seed in seeds.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 0 or len(set(numbers)) < len(numbers):
        raise UsageError(f"--seeds {seeds}: give whole numbers from 0, each once, separated by commas: 0,1,2")
    return numbers


def _write(report: "ExperimentReport", out: Path) -> None:
    """Write an experiment's report and print its figures."""
    report.write(out, running_command())
    click.echo("\n".join(report.lines()))
