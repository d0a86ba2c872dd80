"""What several commands of the index share: options, and the description of an index."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from index.errors import UsageError, listed
from index.formats.registry import FORMATS, Source, format_of, read
from index.formats.sentence import BadUnits
from index.languages import language

# Everything heavy is imported where it is used: `--help` needs neither FAISS nor ONNX Runtime.
if TYPE_CHECKING:
    from index.storage.index_manifest import IndexManifest

Command = TypeVar("Command", bound=Callable[..., Any])
NamedFile = tuple[str | None, Path]  # the language of a corpus, None where each sentence says it; its file

UNITS_SHOWN = 10  # of those that are skipped
ROWS_SEEN = 100  # of a corpus, to tell its columns and languages
LANGUAGES_SHOWN = 15  # so that an index fits on a screen
FOLDER_PATH = click.Path(path_type=Path, file_okay=False)
FILE_PATH = click.Path(path_type=Path, dir_okay=False)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _limit(_ctx: click.Context, _param: click.Parameter, threads: int) -> int:
    # OpenMP reads it when FAISS is imported, which is after this.
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))
    return threads


ENCODER_OPTION = click.option(
    "--encoder", "folder", type=FOLDER_PATH, required=True, help="The encoder bundle."
)
INDEX_ARGUMENT = click.argument("folder", metavar="INDEX", type=FOLDER_PATH)
THREADS_OPTION = click.option(
    "--threads",
    type=click.IntRange(1, 256),
    default=_cores,
    show_default="all",
    callback=_limit,
    help="CPU threads.",
)
JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def _files(_ctx: click.Context, _param: click.Parameter, given: Sequence[str]) -> list[NamedFile]:
    """The languages and paths of LANG=FILE, or of FILE where it says its languages."""
    files: list[NamedFile] = []
    for value in given:
        code, mark, path = value.partition("=")
        if not mark or "/" in code:
            files.append((None, Path(value)))
        elif code and path:
            files.append((code, Path(path)))
        else:
            raise click.BadParameter(f"{value!r} is not LANG=FILE, such as en=sentences.en.txt")
    return files


def _columns(_ctx: click.Context, _param: click.Parameter, pairs: str | None) -> tuple[tuple[str, str], ...]:
    if pairs is None:
        return ()
    from index.formats.rows import columns_of

    return tuple(columns_of(pairs).items())


def _charset(_ctx: click.Context, _param: click.Parameter, name: str | None) -> str | None:
    from index.formats.document import is_charset

    if name is not None and not is_charset(name):
        raise UsageError(f"--encoding {name} is no character set: give one such as cp1251 or shift_jis")
    return name


@dataclass(frozen=True)
class Corpora:
    """The corpus files of a command; `bad` collects bad lines and units, None refuses them."""

    sources: Sequence[Source]
    bad: BadUnits | None

    def report_bad_units(self, folder: Path) -> None:
        """Report what was skipped: the first ten on standard error, all in a file beside the index."""
        if not self.bad:
            return
        listing = folder.with_name(f"{folder.name}.skipped.tsv")
        try:
            self.bad.write(listing)
        except OSError as error:
            raise UsageError(f"{listing}: cannot be written ({error.strerror})") from error
        for line in islice(self.bad, UNITS_SHOWN):
            click.echo(f"skipped: {line}", err=True)
        click.echo(f"{len(self.bad)} bad lines or units were skipped: {listing} lists all", err=True)


def reading(command: Command) -> Command:
    """Add the options for which corpora are read and how; the command receives them as `corpora`."""

    @click.option(
        "--corpus",
        "corpora",
        callback=_files,
        metavar="[LANG=]FILE",
        multiple=True,
        required=True,
        help="Sentences in LANG, or in every language that FILE itself names (TMX, tables, ...); repeatable.",
    )
    @click.option(
        "--format",
        "form",
        type=click.Choice(list(FORMATS)),
        help="The format of every FILE. [default: from its name]",
    )
    @click.option(
        "--columns",
        metavar="MEANING=COLUMN,...",
        callback=_columns,
        help="What columns of a table are: a language code, text, language, id, group, or source and target "
        "where the column is named after the language; such as source=English,target=German.",
    )
    @click.option(
        "--encoding",
        callback=_charset,
        metavar="NAME",
        help="The character set of text and tables that are not in UTF-8, such as cp1251.",
    )
    @click.option(
        "--strict", is_flag=True, help="Refuse a file with a bad line or unit. [default: skip and list them]"
    )
    @wraps(command)
    def with_corpora(
        corpora: Sequence[NamedFile],
        form: str | None,
        columns: tuple[tuple[str, str], ...],
        encoding: str | None,
        strict: bool,
        **options: Any,  # noqa: ANN401 (those of the command)
    ) -> object:
        bad = None if strict else BadUnits()
        sources = [Source(path, code, form, columns, encoding, bad) for code, path in corpora]
        for source in sources:
            _name_metadata(source)
        return command(corpora=Corpora(sources, bad), **options)

    return cast(Command, with_corpora)


def _name_metadata(source: Source) -> None:
    """Name the columns of a table that are kept as metadata: one may be meant as a language's."""
    if format_of(source).table:
        first = islice(read(replace(source, bad=BadUnits())), ROWS_SEEN)
        if kept := list(dict.fromkeys(name for sentence in first for name in sentence.metadata)):
            told = f"kept as metadata: {listed(kept)}; if one is a language, --columns CODE=COLUMN"
            click.echo(f"{source.path}: {told}", err=True)


RAY_OPTION = click.option(
    "--ray",
    metavar="HOST:PORT",
    help="Encode on this Ray cluster, or with auto on the one that this machine belongs to; the index is the "
    "same. [default: on this machine]",
)


def describe(folder: Path, manifest: IndexManifest, as_json: bool) -> None:
    """Print what a version contains, in a few lines or as JSON."""
    from index.storage.versions import VERSIONS

    if as_json:
        click.echo(manifest.model_dump_json(exclude={"files"}))
        return
    for code, entry in list(manifest.languages.items())[:LANGUAGES_SHOWN]:
        dropped = "".join(f", {count} {reason}" for reason, count in entry.dropped.items())
        aligned = f", {entry.links} aligned units" if entry.links else ""
        lines = f"{entry.words} words ({entry.lines} lines{dropped})"
        click.echo(f"{code}: {entry.sentences} sentences{aligned}, {lines}")
        if "language" in entry.dropped:
            listing = folder / VERSIONS / manifest.version / f"{code}.dropped.tsv"
            click.echo(f"{code}: what looks like another language is in {listing}; --keep language keeps it")
    if (more := len(manifest.languages) - LANGUAGES_SHOWN) > 0:
        click.echo(f"and {more} languages more")
    for code, entry in manifest.languages.items():
        if entry.resembles:
            click.echo(
                f"{code}: most lines look like {language(entry.resembles).name}: are languages swapped?"
            )
    for file, count in manifest.skipped.items():
        click.echo(f"{file}: {count} sentences in languages whose codes are not known")
    if best := [quality.r1 for quality in manifest.quality.values()]:
        click.echo(f"translations of the index found first: {min(best):.3f} to {max(best):.3f} by pair")
    fitted = manifest.confidence.source
    click.echo(f"{folder}: version {manifest.version}, encoder {manifest.model}, confidence: {fitted}")
