"""Commands: `passepartout index build`, and those for an existing index."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from index.commands.options import (
    ENCODER_OPTION,
    FILE_PATH,
    FOLDER_PATH,
    INDEX_ARGUMENT,
    JSON_OPTION,
    RAY_OPTION,
    ROWS_SEEN,
    THREADS_OPTION,
    UNITS_SHOWN,
    Corpora,
    describe,
    reading,
)
from index.languages import language
from index.storage.options import CLEANING_RULES, Cleaning, Options, Rule

# Everything heavy is imported where it is used: `--help` needs neither FAISS nor ONNX Runtime.
if TYPE_CHECKING:
    from index.storage.index_manifest import IndexManifest


@click.group()
def index() -> None:
    """Build, change, inspect and verify an index."""


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
@reading
@click.option(
    "--own-ids", is_flag=True, help="Use ids LANG:ID as FILE gives them, not LANG:FILE:ID; each must be new."
)
@RAY_OPTION
@THREADS_OPTION
@JSON_OPTION
def add(folder: Path, corpora: Corpora, own_ids: bool, **options: Any) -> None:  # noqa: ANN401
    """Add sentences to an index, as a new version; only they are encoded."""
    from index.storage.versions import manifest_of

    made = _change(folder, add=corpora.sources, own_ids=own_ids, **options)
    corpora.report_bad_units(folder)
    if options["as_json"]:
        return
    before = manifest_of(folder, made.base or made.version)
    added, dropped = made.sentences - before.sentences, made.dropped - before.dropped
    told = [", ".join(f"{count} {what}" for what, count in some.items()) for some in (added, dropped)]
    click.echo(f"new sentences: {told[0] or 'none'}; dropped: {told[1] or 'none'}")


@index.command()
@INDEX_ARGUMENT
@reading
@RAY_OPTION
@THREADS_OPTION
@JSON_OPTION
def replace(folder: Path, corpora: Corpora, **options: Any) -> None:  # noqa: ANN401
    """Replace the text of sentences, and metadata that is given, by the ids that `index export` writes."""
    from index.answers.translator import Translator
    from index.formats.registry import read

    _change(folder, replace=corpora.sources, **options)
    corpora.report_bad_units(folder)
    translator = Translator.open(folder)  # what looks like another language, a build would drop
    first = chain.from_iterable(islice(read(source), ROWS_SEEN) for source in corpora.sources)
    given = ((one.text, translator.languages.find(one.language)) for one in first)
    known = ((text, code) for text, code in given if code in translator.manifest.detects)
    seen = ((text, code, translator.detect(text)) for text, code in known)
    foreign = ((text, code, found) for text, code, found in seen if found and found != code)
    for text, code, found in islice(foreign, UNITS_SHOWN):
        click.echo(f"{text!r} looks like {language(found).name}, not {code}", err=True)


@index.command()
@INDEX_ARGUMENT
@click.option("--id", "ids", multiple=True, help="The id of a sentence, such as de:17; repeatable.")
@click.option("--ids", "file", type=FILE_PATH, help="A file of ids, one per line.")
@THREADS_OPTION
@JSON_OPTION
def delete(folder: Path, ids: Sequence[str], file: Path | None, **options: Any) -> None:  # noqa: ANN401
    """Remove sentences from an index by their ids."""
    from index.formats.streams import read_lines
    from index.text.normalisation import clean

    given = [clean(line) for _, line in read_lines(file)] if file else []
    _change(folder, delete=[*ids, *filter(None, given)], **options)


@index.command()
@INDEX_ARGUMENT
@THREADS_OPTION
@JSON_OPTION
def merge(folder: Path, **options: Any) -> None:  # noqa: ANN401
    """Merge small changes into the large files, so that words and confidence take account of them."""
    _change(folder, **options)


def _change(folder: Path, *, as_json: bool, **change: Any) -> IndexManifest:  # noqa: ANN401
    from index.build.changes import change_index

    made = change_index(folder, **change)
    describe(folder, made, as_json)
    return made


@index.command()
@INDEX_ARGUMENT
@click.option("--to", "version", help="The version to serve. [default: the previous one]")
@JSON_OPTION
def rollback(folder: Path, version: str | None, as_json: bool) -> None:
    """Serve another version, after checking all its files."""
    from index.build.maintenance import roll_back

    served = roll_back(folder, version)
    click.echo(json.dumps({"current": served}) if as_json else f"{folder}: {served} is served")


@index.command()
@INDEX_ARGUMENT
@click.option(
    "--keep",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="How many of the latest versions to keep; the one served is always kept.",
)
@JSON_OPTION
def gc(folder: Path, keep: int, as_json: bool) -> None:
    """Remove old versions and the remains of builds that did not finish."""
    from index.build.maintenance import collect
    from index.storage.versions import versions

    removed, left = collect(folder, keep), versions(folder)
    told = f"{folder}: {len(removed)} removed, {len(left)} version(s) left"
    click.echo(json.dumps({"removed": removed, "versions": left}) if as_json else told)


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
    told = f"{folder}: {len(checked)} version(s) without damage, {served} is served"
    click.echo(json.dumps({"current": served, "versions": checked}) if as_json else told)
