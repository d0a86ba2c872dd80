"""`passepartout experiment` and `reproduce`: the papers' experiments on your data."""

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
FILE = click.Path(dir_okay=False, path_type=Path)
DATA = click.option("--data", type=FOLDER, required=True)
SEED_OPTION = click.option("--seed", type=click.IntRange(0), default=0, show_default=True)


@click.group()
def experiment() -> None:
    """Experiments with a finished encoder: Globetrotter's appendix A and inference. Each writes a report."""


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


@experiment.command()
@click.option("--encoder", type=FOLDER, required=True, help="A bundle or a run.")
@DATA
@click.option("--target", default="en", show_default=True, help="The language to write.")
@click.option("--epochs", type=click.IntRange(1), default=4, show_default=True)
@click.option(
    "--width",
    type=click.IntRange(8),
    default=128,
    show_default=True,
    help="Width of the GPT-2; a multiple of 4.",
)
@click.option(
    "--noise", type=click.FloatRange(0), default=0.5, show_default=True, help="Noise on the training vectors."
)
@click.option(
    "--sentences",
    type=click.IntRange(2),
    default=500,
    show_default=True,
    help="Sentences to write per language.",
)
@SEED_OPTION
@click.option("--out", type=FOLDER, required=True, help="The report's folder; it quotes sentences.")
def generate(
    encoder: Path,
    data: Path,
    target: str,
    epochs: int,
    width: int,
    noise: float,
    sentences: int,
    seed: int,
    out: Path,
) -> None:
    """A.5: train a small GPT-2 to write from sentence vectors, then translate from other languages."""
    import sacrebleu  # noqa: F401 (fails here, not after the training, where it is missing)

    from training.papers.frozen import open_frozen
    from training.papers.globetrotter import generation
    from training.papers.globetrotter.writer import WriterSettings

    if width % WriterSettings.heads:
        raise UsageError(f"--width {width}: give a multiple of {WriterSettings.heads}")
    frozen = open_frozen(encoder, data)
    settings = WriterSettings(epochs=epochs, width=width, noise=noise, seed=seed)
    _write(generation.report(frozen, data, target, sentences, settings), out)


@experiment.command()
@click.option("--encoder", type=FOLDER, required=True, help="A bundle or a run; it stays frozen.")
@click.option("--data", type=FOLDER, help="The data of the run; not needed for a bundle.")
@click.option("--train", type=FILE, required=True, help="A TSV file in the format of MultiNLI or XNLI.")
@click.option("--dev", type=FILE, help="Pairs for early stopping. [default: a tenth of --train]")
@click.option(
    "--test", "tests", type=FILE, required=True, multiple=True, help="Pairs to test on; repeatable."
)
@click.option("--epochs", type=click.IntRange(1), default=100, show_default=True, help="Most epochs.")
@click.option("--learning-rate", type=click.FloatRange(0, min_open=True), default=2e-5, show_default=True)
@SEED_OPTION
@click.option("--out", type=FOLDER, required=True, help="The report's folder.")
def nli(
    encoder: Path,
    data: Path | None,
    train: Path,
    dev: Path | None,
    tests: tuple[Path, ...],
    epochs: int,
    learning_rate: float,
    seed: int,
    out: Path,
) -> None:
    """Krasner et al. 2025, 3.4: train an inference probe in one language and test it in others."""
    from training.papers.caption_tuning import nli
    from training.papers.frozen import open_frozen

    train_pairs = nli.joined(nli.read_pairs(train).values())
    dev_pairs = nli.joined(nli.read_pairs(dev).values()) if dev else None
    test_pairs = nli.by_language([nli.read_pairs(file, file.stem) for file in tests])
    settings = nli.ProbeSettings(epochs=epochs, learning_rate=learning_rate, seed=seed)
    inferred = nli.infer(open_frozen(encoder, data or Path()), train_pairs, dev_pairs, test_pairs, settings)
    _write(nli.report(inferred), out)


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
