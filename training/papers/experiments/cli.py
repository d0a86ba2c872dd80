"""`passepartout add-language` and `passepartout experiment`: globetrotter's appendix A on your data."""

import shlex
from pathlib import Path
from typing import Any

import click

from index.errors import UsageError

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)


def _command(*words: object) -> str:
    """The command as it is written in a report; options that are None are left out with their names."""
    return shlex.join(["passepartout", *map(str, words)])


@click.command("add-language")
@click.argument("run", type=FOLDER)
@click.argument("language", metavar="LANG")
@click.option("--data", type=FOLDER, required=True, help="The data of RUN, with captions in LANG.")
@click.option(
    "--out", type=FOLDER, required=True, help="The new run's folder; report/ in it compares before and after."
)
@click.option(
    "--epochs", type=click.IntRange(1), default=1, show_default=True, help="Passes over LANG's captions."
)
@click.option(
    "--captions", type=click.IntRange(2), default=32, show_default=True, help="Captions in LANG per step."
)
@click.option("--learning-rate", type=click.FloatRange(0, min_open=True), help="[default: the recipe's]")
def add_language(
    run: Path, language: str, data: Path, out: Path, epochs: int, captions: int, learning_rate: float | None
) -> None:
    """Teach the finished RUN one more language, LANG, from captions of pictures that RUN has not seen."""
    from training.papers.experiments import comparison
    from training.papers.experiments.adding import Pace, add_language
    from training.papers.experiments.report import write_experiment

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
    """Experiments with a finished encoder: Globetrotter's appendix A and inference. Each writes a report."""


@experiment.command()
@click.option(
    "--encoder-run", "runs", type=FOLDER, required=True, multiple=True, help="A finished run; repeatable."
)
@click.option("--adapted", type=FOLDER, help="The first run after add-language, tested with the same head.")
@click.option("--data", type=FOLDER, required=True)
@click.option("--epochs", type=click.IntRange(1), default=1, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--out", type=FOLDER, required=True, help="The report's folder.")
def correspondence(
    runs: tuple[Path, ...], adapted: Path | None, data: Path, epochs: int, seed: int, out: Path
) -> None:
    """A.1: tell true from false sentence halves, in languages that the classifier was not trained on."""
    from training.papers.experiments import correspondence
    from training.papers.experiments.report import write_experiment

    scored = correspondence.correspond(runs, adapted, data, correspondence.Settings(epochs, seed=seed))
    words: list[Any] = [word for run in runs for word in ("--encoder-run", run)]
    words += ["--adapted", adapted] if adapted else []
    words += ["--data", data, "--epochs", epochs, "--seed", seed, "--out", out]
    facts, blocks = correspondence.facts(scored), correspondence.blocks(scored)
    command = _command("experiment", "correspondence", *words)
    write_experiment(out, "Sentence correspondence", command, facts, blocks)
    for one in scored:
        click.echo(correspondence.line(one))


@experiment.command()
@click.option("--encoder", type=FOLDER, required=True, help="A bundle or run that was trained with pictures.")
@click.option(
    "--without-vision", type=FOLDER, help="Another to compare with, such as one of recipe text-only."
)
@click.option("--data", type=FOLDER, required=True)
@click.option("--clusters", "count", type=click.IntRange(2), default=50, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--out", type=FOLDER, required=True, help="The report's folder; it quotes captions.")
def clusters(
    encoder: Path, without_vision: Path | None, data: Path, count: int, seed: int, out: Path
) -> None:
    """A.4: do captions cluster by meaning or by language?"""
    from training.papers.experiments import clusters
    from training.papers.experiments.report import write_experiment
    from training.papers.experiments.sentences import open_frozen, photo_captions

    folders = [encoder, without_vision] if without_vision else [encoder]
    encoders = [open_frozen(folder, data) for folder in folders]
    shared = [code for code in encoders[0].languages if all(code in one.languages for one in encoders)]
    texts = photo_captions(data, "test", shared)
    found = [clusters.cluster(one, texts, count, seed) for one in encoders]
    words: list[Any] = ["--encoder", encoder]
    words += ["--without-vision", without_vision] if without_vision else []
    words += ["--data", data, "--clusters", count, "--seed", seed, "--out", out]
    facts, blocks = clusters.facts(found, texts, count), clusters.blocks(found, texts, count)
    write_experiment(out, "Clusters", _command("experiment", "clusters", *words), facts, blocks)
    for one in found:
        click.echo(clusters.line(one))


@experiment.command()
@click.option("--encoder", type=FOLDER, required=True, help="A bundle or a run.")
@click.option("--data", type=FOLDER, required=True)
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
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
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
    import sacrebleu  # noqa: F401 (a missing one is told now and not after the work)

    from training.papers.experiments import generation
    from training.papers.experiments.report import write_experiment
    from training.papers.experiments.sentences import open_frozen
    from training.papers.experiments.writer import WriterSettings

    if width % WriterSettings.heads:
        raise UsageError(f"--width {width}: give a multiple of {WriterSettings.heads}")
    opened = open_frozen(encoder, data)
    settings = WriterSettings(epochs=epochs, width=width, noise=noise, seed=seed)
    trial = generation.read_trial(opened, data, target, sentences)
    found = generation.generate(opened, data, trial, target, settings)
    words: list[Any] = ["--encoder", encoder, "--data", data, "--target", target, "--epochs", epochs]
    words += ["--width", width, "--noise", noise, "--sentences", sentences, "--seed", seed, "--out", out]
    facts, blocks = generation.facts(found, trial, target), generation.blocks(found, trial, target, settings)
    write_experiment(out, "Generation", _command("experiment", "generate", *words), facts, blocks)
    for one in found:
        click.echo(generation.line(one))


@experiment.command()
@click.option("--encoder", type=FOLDER, required=True, help="A bundle or a run; it stays frozen.")
@click.option("--data", type=FOLDER, help="The data of the run; not needed for a bundle.")
@click.option(
    "--train", "learned", type=FILE, required=True, help="A TSV file in the format of MultiNLI or XNLI."
)
@click.option("--dev", type=FILE, help="Pairs for early stopping. [default: a tenth of --train]")
@click.option(
    "--test", "tests", type=FILE, required=True, multiple=True, help="Pairs to test on; repeatable."
)
@click.option("--epochs", type=click.IntRange(1), default=100, show_default=True, help="Most epochs.")
@click.option("--learning-rate", type=click.FloatRange(0, min_open=True), default=2e-5, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--out", type=FOLDER, required=True, help="The report's folder.")
def nli(
    encoder: Path,
    data: Path | None,
    learned: Path,
    dev: Path | None,
    tests: tuple[Path, ...],
    epochs: int,
    learning_rate: float,
    seed: int,
    out: Path,
) -> None:
    """Krasner et al. 2025, 3.4: train an inference probe in one language and test it in others."""
    from training.papers.experiments import nli
    from training.papers.experiments.report import write_experiment
    from training.papers.experiments.sentences import open_frozen

    trained = nli.merged([nli.read_pairs(learned)])
    held = nli.merged([nli.read_pairs(dev)]) if dev else None
    asked = nli.by_language([nli.read_pairs(file, file.stem) for file in tests])
    settings = nli.Settings(epochs=epochs, learning_rate=learning_rate, seed=seed)
    found = nli.infer(open_frozen(encoder, data or Path()), trained, held, asked, settings)
    words: list[Any] = ["--encoder", encoder, *(("--data", data) if data else ()), "--train", learned]
    words += [*(("--dev", dev) if dev else ()), *(word for file in tests for word in ("--test", file))]
    words += ["--epochs", epochs, "--learning-rate", learning_rate, "--seed", seed, "--out", out]
    command = _command("experiment", "nli", *words)
    write_experiment(out, "Natural language inference", command, nli.facts(found), nli.blocks(found))
    click.echo(nli.line(found))
