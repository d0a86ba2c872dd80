"""Command: `passepartout translate-file`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from index.commands.options import FILE_PATH, FOLDER_PATH, JSON_OPTION, THREADS_OPTION
from index.errors import UsageError
from index.languages import language

if TYPE_CHECKING:
    from index.answers.filling import Summary


@click.command("translate-file")
@click.argument("path", metavar="FILE", type=FILE_PATH)
@click.option("--to", "target", required=True, help="Language to translate into.")
@click.option("--from", "source", help="Language of the texts. [default: as the file says, or detected]")
@click.option("--index", "folder", type=FOLDER_PATH, required=True, help="The index with the translations.")
@click.option(
    "--out", type=FILE_PATH, help="The file to write. [default: FILE with the language in its name]"
)
@click.option(
    "--fuzzy/--no-fuzzy",
    default=None,
    help="Whether to write near matches. [default: where the format can mark them]",
)
@THREADS_OPTION
@JSON_OPTION
def translate_file(
    path: Path,
    target: str,
    source: str | None,
    folder: Path,
    out: Path | None,
    fuzzy: bool | None,
    threads: int,
    as_json: bool,
) -> None:
    """Fill a PO, XLIFF, TMX, DOCX or other file (docs/index.md) from the translations in an index.

    Exact matches become translated, near ones fuzzy, as the format marks them; the rest stays empty.
    """
    from index.answers.filling import translate_file
    from index.answers.translator import Translator

    if out is None:
        out = path.with_name(f"{path.stem}.{target}{path.suffix}")
        if out.exists():
            raise UsageError(f"{out} exists: give --out")
    summary = translate_file(Translator.open(folder, threads=threads), path, out, target, source, fuzzy=fuzzy)
    click.echo(json.dumps({"file": str(out), **asdict(summary)}) if as_json else f"{out}: {_said(summary)}")
    if (code := summary.looks_like) and not as_json:
        click.echo(f"{path}: its texts look like {language(code).name}: give --from {code}")


def _said(summary: Summary) -> str:
    fuzzy = f"{summary.fuzzy} fuzzy"
    if summary.fuzzy and not summary.fuzzy_written:
        fuzzy = f"{summary.fuzzy} near matches, which this format cannot mark (--fuzzy writes them)"
    kept = f"; {summary.kept} had a translation" if summary.kept else ""
    return f"{summary.translated} translated, {fuzzy}, {summary.empty} left empty{kept}"
