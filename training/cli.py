"""`passepartout train` and `bundle export`."""

from pathlib import Path

import click

from index.errors import UsageError

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
