"""What several commands of the index share: options, and an index in a few lines."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from index.corpora.formats import FORMATS

# Everything heavy is imported where it is used: `--help` needs neither FAISS nor ONNX Runtime.
if TYPE_CHECKING:
    from index.versions import IndexManifest

FOLDER = click.Path(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _limit(_ctx: click.Context, _param: click.Parameter, threads: int) -> int:
    # OpenMP reads it when FAISS is imported, which is after this.
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))
    return threads


INDEX = click.argument("folder", metavar="INDEX", type=FOLDER)
THREADS = click.option(
    "--threads",
    type=click.IntRange(1, 256),
    default=_cores,
    show_default="all",
    callback=_limit,
    help="CPU threads.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Answer as JSON, for programs.")
FORMAT = click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), help="The format of every FILE. [by extension]"
)


class CorpusOption(click.ParamType[tuple[str | None, Path]]):
    """LANG=FILE, or FILE where it says its languages."""

    name = "[LANG=]FILE"

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[str | None, Path]:
        code, mark, path = str(value).partition("=")
        if mark and "/" not in code:
            if not code or not path:
                self.fail(f"{value!r} is not LANG=FILE, such as en=sentences.en.txt", param, ctx)
            return code, Path(path)
        return None, Path(str(value))


CORPUS = click.option(
    "--corpus",
    "corpora",
    type=CorpusOption(),
    multiple=True,
    required=True,
    help="Sentences of a language, or of every language that FILE names (TMX, tables, ...); repeatable.",
)


def describe(folder: Path, manifest: IndexManifest, as_json: bool) -> None:
    if as_json:
        click.echo(manifest.model_dump_json(exclude={"files"}))
        return
    for code, entry in manifest.languages.items():
        dropped = "".join(f", {count} {reason}" for reason, count in entry.dropped.items())
        aligned = f", {entry.links} aligned" if entry.links else ""
        click.echo(
            f"{code}: {entry.sentences} sentences{aligned}, {entry.words} words "
            f"({entry.lines} lines{dropped})"
        )
    for file, count in manifest.skipped.items():
        click.echo(f"{file}: {count} sentences in languages that the encoder does not know")
    confidence = "calibrated" if manifest.calibrated else "not calibrated"
    click.echo(f"{folder}: version {manifest.version}, encoder {manifest.model}, confidence {confidence}")
