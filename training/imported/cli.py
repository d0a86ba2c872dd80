"""`passepartout bundle import`."""

from pathlib import Path

import click

from index.errors import listed

PATH_TYPE = click.Path(path_type=Path)


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
