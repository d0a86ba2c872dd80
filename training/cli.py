"""`passepartout train`, `pictures`, `export` and `pictograms`."""

from pathlib import Path

import click

from index.errors import UsageError

PATH = click.Path(path_type=Path)


@click.command()
@click.argument("recipe")
@click.option("--data", type=PATH, help="The data folder (docs/data.md).")
@click.option("--out", type=PATH, required=True, help="The run's folder.")
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
        from training.smoke import run_smoke

        click.echo(run_smoke(recipe, out, overrides))
        return
    if data is None:
        raise UsageError("give --data DIR, the folder with the captioned pictures (docs/data.md)")
    from training.loop.distributed import is_first
    from training.loop.training_loop import train as run_training
    from training.recipes.recipe import load_recipe

    run = run_training(load_recipe(recipe, overrides), data, out, resume=resume)
    if not is_first():
        return
    result = run.result()
    skipped = result.get("skipped_pictures", {})
    if skipped.get("first"):
        click.echo(
            f"skipped {skipped['missing']} missing and {skipped['undecodable']} undecodable pictures, "
            f"{', '.join(skipped['first'])} first",
            err=True,
        )
    click.echo(
        f"{out}: {result['epochs']} epochs in {result['seconds']} s, "
        f"sum of recalls {result['sum_of_recalls']} at epoch {result['best_epoch']}"
    )


@click.command()
@click.argument("run", type=PATH)
@click.option("--data", type=PATH, required=True, help="The data it was trained on.")
@click.option("--split", default="test", show_default=True, help="A split of photos/splits.tsv.")
@click.option("--out", type=PATH, required=True, help="The file to write.")
def pictures(run: Path, data: Path, split: str, out: Path) -> None:
    """Embed the photographs of a split with a finished RUN, for `evaluate retrieval`."""
    from training.export.picture_vectors import picture_vectors

    embedded = picture_vectors(run, data, split)
    embedded.write(out)
    click.echo(
        f"{out}: {len(embedded.names)} pictures of split {split}, {embedded.vectors.shape[1]} dimensions"
    )


@click.command()
@click.argument("run", type=PATH)
@click.option("--out", type=PATH, required=True, help="The bundle's folder.")
@click.option("--data", type=PATH, required=True, help="The data it was trained on.")
@click.option("--name", help="The bundle's name. [default: the recipe's]")
@click.option("--version", "version", default="1", show_default=True)
@click.option("--licence", default="unspecified", show_default=True, help="The licence of the weights.")
@click.option("--without", multiple=True, metavar="CODE", help="A language to leave out; repeatable.")
@click.option(
    "--compact", is_flag=True, help="Only the 8-bit graph, without the float32 one and the word embeddings."
)
def export(
    run: Path,
    out: Path,
    data: Path,
    name: str | None,
    version: str,
    licence: str,
    without: tuple[str, ...],
    compact: bool,
) -> None:
    """Turn a finished RUN into an encoder bundle: ONNX, tokenizer, word lists, model card."""
    from training.export.bundle import export_run

    bundle = export_run(
        run, data, out, name=name, version=version, licence=licence, compact=compact, without=without
    )
    click.echo(f"{out}: {bundle.name}, {bundle.manifest.dimension} dimensions, {bundle.manifest.precision}")


@click.command()
@click.argument("bundle", type=PATH)
@click.option("--data", type=PATH, required=True, help="The data it was trained on.")
@click.option("--recipe", "name", help="The recipe it was trained with. [default: the one of its manifest]")
def pictograms(bundle: Path, data: Path, name: str | None) -> None:
    """Put the vectors of the pictograms that it learned from into BUNDLE: what it sees in a text."""
    from index.encoder.bundle import open_bundle
    from training.export.pictograms import write_pictograms
    from training.recipes.recipe import load_recipe

    recipe = load_recipe(name or open_bundle(bundle).manifest.recipe.name, ())
    written = write_pictograms(bundle, data, recipe)
    click.echo(
        f"{bundle}: {written.pictograms} pictograms; of {written.held_out} held out, in {written.languages} "
        f"languages, a name finds its own: {written.both} (by drawings alone {written.drawn}, by names alone "
        f"{written.named})"
    )
