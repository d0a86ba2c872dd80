"""Commands: `passepartout encode`, `index build | info | verify | export`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from index.build.cleaning import CLEANING_RULES, Cleaning, Rule
from index.commands.concordance import concordance
from index.commands.maintenance import MAINTENANCE_COMMANDS
from index.commands.options import (
    ENCODER_OPTION,
    FILE_PATH,
    FILES_STORE,
    FOLDER_PATH,
    INDEX_ARGUMENT,
    JSON_OPTION,
    THREADS_OPTION,
    Corpora,
    describe,
    describe_all,
    encoding,
    engine_of,
    reading,
    report_bad_units,
    searching,
)
from index.errors import CorpusError, UnknownLanguageError, listed

# Everything heavy is imported where it is used: `--help` needs neither FAISS nor ONNX Runtime.
if TYPE_CHECKING:
    from index.encoder.bundle import Precision
    from index.storage.index_manifest import Scoring

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

    from index.encoder.text_encoder import TextEncoder
    from index.importing.named import open_encoder
    from index.progress import Progress
    from index.storage.files import output_file

    bundle = open_encoder(folder)
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


for command in (concordance, *MAINTENANCE_COMMANDS):
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
    "--likeness",
    type=click.FloatRange(0.5, 1),
    default=1.0,
    show_default=True,
    help="Drop near-duplicates at least this similar; 1: equal but for case, punctuation and spaces.",
)
@searching("auto", "csls", 1, True)
@encoding
@click.option(
    "--measure-aligned",
    is_flag=True,
    help="Line i says the same in every file (one text file a language): measure by it how well each pair of "
    "languages translates. Answers do not use it.",
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
    likeness: float,
    factory: str,
    store: str | None,
    scoring: Scoring,
    least_count: int,
    phrases: bool,
    engine: Literal["local", "ray"],
    ray_address: str | None,
    measure_aligned: bool,
    out: Path,
    threads: int,
    as_json: bool,
) -> None:
    """Build a version of an index and make it the current one."""
    from index.build.build_index import build_index
    from index.build.lexicon import WordOptions
    from index.build.vectors import SearchOptions
    from index.importing.named import open_encoder

    cleaning = Cleaning(frozenset(keep), longest, likeness)
    manifest = build_index(
        open_encoder(folder),
        corpora.sources,
        out,
        threads=threads,
        cleaning=cleaning,
        searching=SearchOptions(
            None if factory == "auto" else factory, scoring, None if store == FILES_STORE else store
        ),
        word_options=WordOptions(least=least_count, phrases=phrases),
        engine=engine_of(engine, ray_address),
        measure_aligned=measure_aligned,
    )
    report_bad_units(corpora.bad, out)
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
    from index.build.export import export_index
    from index.commands.dictionary import export_dictionary

    if pair is None:
        click.echo(f"{out}: {export_index(folder, out)} sentences")
    else:
        click.echo(f"{out}: {export_dictionary(folder, pair, out, count)} translations")


@index.command()
@INDEX_ARGUMENT
@JSON_OPTION
@click.option("--verbose", is_flag=True, help="Show also how each language is searched, and every pair.")
def info(folder: Path, as_json: bool, verbose: bool) -> None:
    """Show what an index contains and how well it translates."""
    from index.storage.index_manifest import IndexManifest
    from index.storage.manifest import read_manifest
    from index.storage.versions import VERSIONS, current

    version = folder / VERSIONS / current(folder)
    manifest = read_manifest(version, IndexManifest, "a version of an index")
    if verbose and not as_json:
        describe_all(folder, manifest)
    else:
        describe(folder, manifest, as_json)


@index.command()
@INDEX_ARGUMENT
@JSON_OPTION
def verify(folder: Path, as_json: bool) -> None:
    """Check every file of every version against its checksum, and open the current version."""
    from index.build.maintenance import verify_version
    from index.search.translator import Translator
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
