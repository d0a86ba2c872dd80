"""Commands: `passepartout bundle encode`, `index build | info | verify | export`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

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
from index.errors import CorpusError, UnknownLanguageError, listed
from index.storage.options import CLEANING_RULES, Cleaning, Options, Rule

# Everything heavy is imported where it is used: `--help` needs neither FAISS nor ONNX Runtime.
if TYPE_CHECKING:
    from index.encoder.bundle import Precision

BATCH_SIZE = 64


@click.command()
@ENCODER_OPTION
@click.option(
    "--language", help="The language of the text, one of the bundle's; needed for one that it was taught."
)
@click.option(
    "--input", "source", type=FILE_PATH, help="Text file, one sentence per line. [default: standard input]"
)
@click.option(
    "--output",
    type=FILE_PATH,
    required=True,
    help="The .npy file to write: float32, shape (lines, dimensions).",
)
@click.option(
    "--precision", type=click.Choice(["auto", "fp32", "int8", "int4"]), default="auto", show_default=True
)
@THREADS_OPTION
def encode(
    folder: Path,
    language: str | None,
    source: Path | None,
    output: Path,
    precision: Precision | Literal["auto"],
    threads: int,
) -> None:
    """Turn sentences into unit vectors; row i is line i, empty lines included."""
    import numpy as np

    from index.encoder.bundle import open_bundle
    from index.encoder.text_encoder import TextEncoder
    from index.progress import Progress
    from index.storage.files import output_file

    bundle = open_bundle(folder)
    if language is not None and language not in bundle.manifest.languages:
        known = listed(bundle.manifest.languages)
        raise UnknownLanguageError(f"{bundle.name} does not know {language!r}; it knows: {known}")
    encoder = TextEncoder(bundle, precision=precision, threads=threads)
    lines = _lines(source)
    with Progress(len(lines), unit="sentences", label="encode") as bar:
        vectors = encoder.encode(lines, BATCH_SIZE, bar.advance, language=language or "")
    with output_file(output) as draft, draft.open("wb") as file:
        np.save(file, vectors, allow_pickle=False)


def _lines(source: Path | None) -> list[str]:
    from index.formats.txt import read_txt

    if source is not None:
        return [text for _, text in read_txt(source)]
    try:
        return [line.decode("utf-8").rstrip("\r\n") for line in sys.stdin.buffer]
    except UnicodeDecodeError as error:
        raise CorpusError("standard input is not UTF-8: convert it first") from error


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
    "--longest",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Drop sentences longer than this many characters.",
)
@click.option(
    "--factory",
    metavar="STRING",
    help="The FAISS index that searches sentences, as faiss.index_factory names it, such as "
    "IVF1024,PQ128x4fs,RFlat. [default: chosen by their number]",
)
@click.option(
    "--store",
    metavar="milvus://HOST:PORT/NAME",
    help="Where to keep sentence vectors: a Milvus server, or milvus://PATH/FILE.db for milvus-lite. "
    "[default: files]",
)
@RAY_OPTION
@click.option(
    "--aligned",
    is_flag=True,
    help="Line i says the same in every text file of a folder: such lines answer as a translation memory, "
    "and measure how well each pair of languages translates.",
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
    longest: int,
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
        from index.vectors.milvus import parse

        store = parse(store).text
    manifest = build_index(
        open_bundle(folder),
        corpora.sources,
        out,
        threads=threads,
        cleaning=Cleaning(tuple(sorted(set(keep))), longest),
        options=Options(factory, store),
        ray=ray,
        aligned=aligned,
    )
    corpora.report_bad_units(out)
    describe(out, manifest, as_json)


@index.command()
@INDEX_ARGUMENT
@click.option(
    "--out", type=FILE_PATH, required=True, help="The file to write: .tmx or .tsv; --corpus can read it back."
)
@click.option(
    "--dictionary", "pair", metavar="FROM-TO", help="Write words and their translations instead, as TSV."
)
@click.option(
    "-k", "count", type=click.IntRange(1, 100), default=1, show_default=True, help="Translations per word."
)
def export(folder: Path, out: Path, pair: str | None, count: int) -> None:
    """Write the sentences of an index, with their translations beside them, or write a dictionary."""
    from index.commands.export import export_dictionary, export_index

    if pair is None:
        click.echo(f"{out}: {export_index(folder, out)} sentences")
    else:
        click.echo(f"{out}: {export_dictionary(folder, pair, out, count)} translations")


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
