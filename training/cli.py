"""`passepartout train`, `learn-language`, `reproduce`, `bundle export` and `bundle import`."""

from pathlib import Path

import click

from index.errors import UsageError, listed
from training.recipes.files import papers

PATH_TYPE = click.Path(path_type=Path)


@click.command()
@click.argument("recipe")
@click.option("--data", type=PATH_TYPE, help="The data folder (docs/data.md).")
@click.option("--out", type=PATH_TYPE, required=True, help="The run's folder.")
@click.option("--resume", is_flag=True, help="Continue an interrupted run.")
@click.option("--smoke", is_flag=True, help="Try the whole path at tiny sizes on drawn pictures.")
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of the recipe, such as optimiser.epochs=3; repeatable.",
)
def train(
    recipe: str, data: Path | None, out: Path, resume: bool, smoke: bool, overrides: tuple[str, ...]
) -> None:
    """Train an encoder with RECIPE, the name of a shipped recipe or a TOML file."""
    if smoke:
        if data is not None or resume:
            raise UsageError(
                "--smoke draws its own pictures and starts afresh: leave out --data and --resume"
            )
        from training.smoke.run import run_smoke

        click.echo(run_smoke(recipe, out, overrides))
        return
    if data is None:
        raise UsageError("give --data DIR, the folder with the captioned pictures (docs/data.md)")
    from training.loop.training_loop import train as run_training
    from training.recipes.recipe import load_recipe

    result = run_training(load_recipe(recipe, overrides), data, out, resume=resume).result()
    click.echo(
        f"{out}: {result['epochs']} epochs in {result['seconds']} s, "
        f"sum of recalls {result['sum_of_recalls']} at epoch {result['best_epoch']}"
    )


@click.command()
@click.argument("run", type=PATH_TYPE)
@click.option("--out", type=PATH_TYPE, required=True, help="The bundle's folder.")
@click.option("--data", type=PATH_TYPE, required=True, help="The data it was trained on.")
@click.option("--name", help="The bundle's name. [default: the recipe's]")
@click.option("--version", "version", default="1", show_default=True)
@click.option("--licence", default="unspecified", show_default=True, help="The licence of the weights.")
@click.option("--without", multiple=True, metavar="CODE", help="A language to leave out; repeatable.")
def export(
    run: Path,
    out: Path,
    data: Path,
    name: str | None,
    version: str,
    licence: str,
    without: tuple[str, ...],
) -> None:
    """Turn a finished RUN into an encoder bundle: ONNX, tokenizer, word lists, model card."""
    from training.export.bundle import export_run

    bundle = export_run(run, data, out, name=name, version=version, licence=licence, without=without)
    click.echo(f"{out}: {bundle.name}, {bundle.manifest.dimension} dimensions, {bundle.manifest.precision}")


def _languages(_ctx: click.Context, _param: click.Parameter, codes: str | None) -> tuple[str, ...]:
    return tuple(code.strip() for code in codes.split(",")) if codes else ()


@click.command("import")
@click.argument("source", type=PATH_TYPE)
@click.option("--out", type=PATH_TYPE, required=True, help="The bundle: a new folder.")
@click.option(
    "--languages",
    callback=_languages,
    metavar="CODE,...",
    help="The languages it is for, such as en,de. [default: those of its model card]",
)
@click.option("--name", help="The bundle's name. [default: that of its folder]")
@click.option("--licence", help="The licence of the weights. [default: that of its model card]")
@click.option(
    "--prefix", help='Text to put before every text, such as "query: ". [default: its default prompt]'
)
def import_(
    source: Path,
    out: Path,
    languages: tuple[str, ...],
    name: str | None,
    licence: str | None,
    prefix: str | None,
) -> None:
    """Turn SOURCE, a folder that sentence-transformers or transformers saved, into an encoder bundle.

    Its weights must be safetensors.
    """
    from training.imported.encoder import import_encoder

    bundle = import_encoder(source, out, name=name, languages=languages, licence=licence, prefix=prefix)
    manifest = bundle.manifest
    known = listed(manifest.languages)
    click.echo(
        f"{out}: {bundle.name}, {manifest.dimension} dimensions, {manifest.max_tokens} tokens, for {known}"
    )


@click.command("learn-language")
@click.argument("bundle", type=PATH_TYPE)
@click.argument("code")
@click.option(
    "--captions",
    type=PATH_TYPE,
    required=True,
    help="TSV: a picture of the bundle, and a text in the new language.",
)
@click.option(
    "--pictures", "folder", type=PATH_TYPE, help="Your own pictures, for --captions to name; needs torch."
)
@click.option(
    "--backbone",
    default="",
    help="The folder of the image model to encode them. [default: as the bundle names it]",
)
@click.option("--out", type=PATH_TYPE, required=True, help="The new bundle's folder.")
def learn_language(
    bundle: Path,
    code: str,
    captions: Path,
    folder: Path | None,
    backbone: str,
    out: Path,
) -> None:
    """Teach BUNDLE the language CODE from captions of its pictures or of yours, in minutes.

    OUT is a bundle like any other; OUT.report.md says what it knows and what to caption next.
    """
    from index.encoder.bundle import open_bundle
    from index.encoder.pictures import Pictures
    from index.storage.files import read_text
    from index.teaching.examples import names_of, read_captions
    from index.teaching.learn_language import check_language
    from index.teaching.learn_language import learn_language as learn
    from index.teaching.report import report, summary

    opened = open_bundle(bundle)
    check_language(opened, code)
    pictures, known = Pictures.open(opened), "the bundle's"
    lines = read_text(captions).splitlines()
    if folder is not None:
        from training.teaching.own_pictures import with_own_pictures

        named = names_of(lines, str(captions))
        pictures = with_own_pictures(opened, pictures, folder, named, backbone)
        known = f"{known} or in {folder}"
    if pictures is None:
        raise UsageError(f"{bundle} has no pictures to caption: give --pictures, or a bundle with some")
    examples = read_captions(lines, str(captions), pictures, known)
    learned = learn(opened, code, examples, pictures, out)
    described = out.with_name(f"{out.name}.report.md")
    described.write_text(report(learned), "utf-8")
    click.echo(f"{out}: {summary(learned)}")
    click.echo(f"{described}: what it knows, and {len(learned.next_pictures)} pictures to caption next")


@click.command()
@click.argument("paper", type=click.Choice([*papers()]))
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="The data folder (docs/data.md).",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The report's folder; an interrupted run there is continued.",
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
    """Put the claims of a paper to the test: train and measure the systems that show them, over seeds.

    `united` joins what the others propose.
    """
    from evaluation.reports.report import running_command
    from training.papers.study import Study, read_claims

    study = Study(read_claims(papers()[paper]), data, out, _numbers(seeds), overrides)
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
