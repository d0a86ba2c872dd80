"""Commands: `passepartout index build | info | verify | export`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from index.commands.maintenance import MAINTENANCE_COMMANDS
from index.commands.options import (
    ENCODER_OPTION,
    FILE_PATH,
    FOLDER_PATH,
    INDEX_ARGUMENT,
    JSON_OPTION,
    RAY_OPTION,
    THREADS_OPTION,
    Corpora,
    describe,
    reading,
)
from index.storage.options import CLEANING_RULES, Cleaning, Options, Rule

# Everything heavy is imported where it is used: `--help` needs neither FAISS nor ONNX Runtime.


@click.group()
def index() -> None:
    """Build, change, inspect and verify an index."""


for command in MAINTENANCE_COMMANDS:
    index.add_command(command)


@index.command()
@ENCODER_OPTION
@reading
@click.option(
    "--keep",
    type=click.Choice(CLEANING_RULES),
    multiple=True,
    help="Skip a cleaning rule: form (normalisation), unconfirmed, long, language (lines clearly in another "
    "language), duplicate, near; repeatable.",
)
@click.option(
    "--factory",
    metavar="STRING",
    help="The FAISS index that searches sentences, as faiss.index_factory names it, such as "
    "IVF1024,PQ128x4fs,RFlat. [default: by number of sentences]",
)
@click.option(
    "--store",
    metavar="milvus://HOST:PORT",
    help="The Milvus server for sentence vectors; milvus+tls:// uses TLS. [default: files]",
)
@RAY_OPTION
@click.option(
    "--aligned",
    is_flag=True,
    help="Line i says the same in every text file of a folder: such lines answer as a translation memory, "
    "and measure how well each language pair translates.",
)
@click.option(
    "--out",
    type=FOLDER_PATH,
    required=True,
    help="The index: a new folder, or an existing one that gets a new version.",
)
@THREADS_OPTION
@JSON_OPTION
def build(
    folder: Path,
    corpora: Corpora,
    keep: Sequence[Rule],
    factory: str | None,
    store: str | None,
    ray: str | None,
    aligned: bool,
    out: Path,
    threads: int,
    as_json: bool,
) -> None:
    """Build a version of an index and make it the current one."""
    from index.build.build_index import build_index
    from index.encoder.bundle import open_bundle
    from index.vectors.faiss import check_factory

    if factory:
        check_factory(factory)
    if store:
        from index.vectors.milvus import uri_of

        uri_of(store)  # invalid ones are refused before anything is read
    manifest = build_index(
        open_bundle(folder),
        corpora.sources,
        out,
        threads=threads,
        cleaning=Cleaning(tuple(sorted(set(keep)))),
        options=Options(factory, store, aligned),
        ray=ray,
    )
    corpora.report_bad_units(out)
    describe(out, manifest, as_json)


@index.command()
@INDEX_ARGUMENT
@click.option(
    "--out", type=FILE_PATH, required=True, help="The file to write: .tmx or .tsv; --corpus can read it back."
)
def export(folder: Path, out: Path) -> None:
    """Write the sentences of an index, with their translations beside them."""
    from index.commands.export import export_index

    click.echo(f"{out}: {export_index(folder, out)} sentences")


@index.command()
@INDEX_ARGUMENT
@JSON_OPTION
def info(folder: Path, as_json: bool) -> None:
    """Show what an index contains and how well it translates; each language and pair with --json."""
    from index.storage.versions import current, manifest_of

    describe(folder, manifest_of(folder, current(folder)), as_json)


@index.command()
@INDEX_ARGUMENT
@JSON_OPTION
def verify(folder: Path, as_json: bool) -> None:
    """Check every file of every version against its checksum, and open the current version."""
    from index.answers.translator import Translator
    from index.build.maintenance import verify_version
    from index.storage.versions import current, versions

    served = current(folder)
    checked = versions(folder)
    for version in checked:
        verify_version(folder, version)
    Translator.open(folder)
    if as_json:
        click.echo(json.dumps({"current": served, "versions": checked}))
    else:
        click.echo(f"{folder}: {len(checked)} version(s) without damage, {served} is served")
