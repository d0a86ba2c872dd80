"""`passepartout add-language` and `passepartout experiment`: globetrotter's appendix A on your data."""

import shlex
from pathlib import Path
from typing import Any

import click

FOLDER = click.Path(file_okay=False, path_type=Path)


def _command(*words: object) -> str:
    """The command as it is written in a report; options that are None are left out with their names."""
    return shlex.join(["passepartout", *map(str, words)])


@click.command("add-language")
@click.argument("run", type=FOLDER)
@click.argument("language", metavar="LANG")
@click.option("--data", type=FOLDER, required=True, help="The data of RUN, with captions in LANG.")
@click.option("--out", type=FOLDER, required=True, help="The new run's folder; its report/ compares.")
@click.option("--epochs", type=click.IntRange(1), default=1, show_default=True, help="Over LANG's captions.")
@click.option("--captions", type=click.IntRange(2), default=32, show_default=True, help="Of LANG in a step.")
@click.option("--learning-rate", type=click.FloatRange(0, min_open=True), help="The recipe's when left out.")
def add_language(
    run: Path, language: str, data: Path, out: Path, epochs: int, captions: int, learning_rate: float | None
) -> None:
    """Teach the finished RUN one more language, LANG, from captions of pictures that RUN has not seen."""
    from training.experiments import comparison
    from training.experiments.adding import Pace, add_language
    from training.experiments.report import write_experiment

    added = add_language(run, language, data, out, Pace(epochs, captions, learning_rate))
    found = comparison.compare(added, data)
    pace: list[Any] = ["--epochs", epochs, "--captions", captions]
    pace += ["--learning-rate", learning_rate] if learning_rate else []
    command = _command("add-language", run, language, "--data", data, "--out", out, *pace)
    blocks, facts = comparison.blocks(added, found), comparison.facts(added, found)
    write_experiment(out / "report", f"{language} added to {added.base.recipe.name}", command, facts, blocks)
    for one in found:
        click.echo(comparison.line(one))
    click.echo(f"{out}: finished; passepartout export {out} --data {data} --out BUNDLE")


@click.group()
def experiment() -> None:
    """Globetrotter's appendix A: halves of sentences, clusters, generation. Each writes a report."""
