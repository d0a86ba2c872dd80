"""Commands for an existing index: `index add | replace | delete | diff | rollback | gc`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from index.commands.options import (
    FILE_PATH,
    FOLDER_PATH,
    INDEX_ARGUMENT,
    JSON_OPTION,
    THREADS_OPTION,
    Corpora,
    describe,
    encoding,
    engine_of,
    reading,
    report_bad_units,
    searching,
)
from index.formats.registry import Source

IDS_SHOWN = 5  # ids of a language, where they are not asked for as JSON

ENCODER_CHECK_OPTION = click.option(
    "--encoder", type=FOLDER_PATH, help="Fail unless the index was built with this encoder bundle."
)


@click.command()
@INDEX_ARGUMENT
@reading
@click.option(
    "--own-ids", is_flag=True, help="Use ids LANG:ID as FILE gives them, not LANG:FILE:ID; each must be new."
)
@ENCODER_CHECK_OPTION
@searching()
@encoding
@THREADS_OPTION
@JSON_OPTION
def add(
    folder: Path,
    corpora: Corpora,
    own_ids: bool,
    encoder: Path | None,
    threads: int,
    as_json: bool,
    **options: Any,  # noqa: ANN401 (what `searching` and `encoding` add)
) -> None:
    """Add sentences to an index, as a new version; only they are encoded."""
    _change(folder, encoder, threads, as_json, options, add=corpora.sources, own_ids=own_ids)
    report_bad_units(corpora.bad, folder)


@click.command()
@INDEX_ARGUMENT
@reading
@ENCODER_CHECK_OPTION
@searching()
@encoding
@THREADS_OPTION
@JSON_OPTION
def replace(
    folder: Path,
    corpora: Corpora,
    encoder: Path | None,
    threads: int,
    as_json: bool,
    **options: Any,  # noqa: ANN401 (what `searching` and `encoding` add)
) -> None:
    """Replace the text and metadata of sentences, by the ids that `index export` writes."""
    _change(folder, encoder, threads, as_json, options, replace=corpora.sources)
    report_bad_units(corpora.bad, folder)


@click.command()
@INDEX_ARGUMENT
@click.option("--id", "ids", multiple=True, help="The id of a sentence, such as de:17; repeatable.")
@click.option("--ids", "file", type=FILE_PATH, help="A file of ids, one per line.")
@searching()
@THREADS_OPTION
@JSON_OPTION
def delete(
    folder: Path,
    ids: Sequence[str],
    file: Path | None,
    threads: int,
    as_json: bool,
    **options: Any,  # noqa: ANN401 (what `searching` adds)
) -> None:
    """Remove sentences from an index by their ids."""
    _change(folder, None, threads, as_json, options, delete=[*ids, *(_lines(file) if file else [])])


def _lines(file: Path) -> list[str]:
    from index.formats.txt import read_txt

    return [line for _, line in read_txt(file) if line]


def _change(
    folder: Path,
    encoder: Path | None,
    threads: int,
    as_json: bool,
    options: dict[str, Any],
    *,
    add: Sequence[Source] = (),
    replace: Sequence[Source] = (),
    delete: Sequence[str] = (),
    own_ids: bool = False,
) -> None:
    from index.build.changes import Changes, change_index
    from index.importing.named import open_encoder

    bundle = open_encoder(encoder) if encoder else None
    engine = engine_of(options.pop("engine", "local"), options.pop("ray_address", None))
    manifest = change_index(
        folder,
        add=add,
        replace=replace,
        delete=delete,
        own_ids=own_ids,
        encoder=bundle,
        threads=threads,
        changes=Changes(**options),
        engine=engine,
    )
    describe(folder, manifest, as_json)


@click.command()
@INDEX_ARGUMENT
@click.argument("old", required=False)
@click.argument("new", required=False)
@JSON_OPTION
def diff(folder: Path, old: str | None, new: str | None, as_json: bool) -> None:
    """Show what was added, removed or changed in version NEW (the current one) since OLD (its base)."""
    from index.storage.difference import compare

    before, after, differences = compare(folder, old, new)
    if as_json:
        languages = {code: asdict(difference) for code, difference in differences.items()}
        click.echo(json.dumps({"old": before, "new": after, "languages": languages}, ensure_ascii=False))
        return
    for code, difference in differences.items():
        for what, ids in asdict(difference).items():
            if ids:
                more = ", ..." if len(ids) > IDS_SHOWN else ""
                click.echo(f"{code}: {len(ids)} {what} ({', '.join(ids[:IDS_SHOWN])}{more})")
    click.echo(f"{folder}: {before} to {after}" + ("" if differences else ": the same sentences"))


@click.command()
@INDEX_ARGUMENT
@click.option("--to", "version", help="The version to serve. [default: the previous one]")
@JSON_OPTION
def rollback(folder: Path, version: str | None, as_json: bool) -> None:
    """Serve another version, after checking all its files."""
    from index.build.maintenance import roll_back

    served = roll_back(folder, version)
    click.echo(json.dumps({"current": served}) if as_json else f"{folder}: {served} is served")


@click.command()
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

    removed = collect(folder, keep)
    if as_json:
        click.echo(json.dumps({"removed": removed, "versions": versions(folder)}))
    else:
        click.echo(f"{folder}: {len(removed)} removed, {len(versions(folder))} version(s) left")


MAINTENANCE_COMMANDS: tuple[click.Command, ...] = (add, replace, delete, diff, rollback, gc)
