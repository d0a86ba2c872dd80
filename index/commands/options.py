"""What several commands of the index share: options, and the description of an index."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import click

from index.errors import UsageError
from index.formats.bad_units import BadUnits
from index.formats.registry import CORPUS_FORMATS, Source
from index.languages import language

# Everything heavy is imported where it is used: `--help` needs neither FAISS nor ONNX Runtime.
if TYPE_CHECKING:
    from index.build.job import Engine
    from index.confidence.quality import HubnessEntry, PairQuality
    from index.storage.index_manifest import IndexManifest, LanguageEntry, SearchSettings

Command = TypeVar("Command", bound=Callable[..., Any])

FILES_STORE = "files"  # for --store
UNITS_SHOWN = 10  # of those that are skipped
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
    "--encoder", "folder", type=FOLDER_PATH, required=True, help="The encoder bundle, or use-multilingual."
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
FORMAT_OPTION = click.option(
    "--format",
    "form",
    type=click.Choice(list(CORPUS_FORMATS)),
    help="The format of every FILE. [default: from its name]",
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


CORPUS_OPTION = click.option(
    "--corpus",
    "corpora",
    type=CorpusOption(),
    multiple=True,
    required=True,
    help="Sentences in LANG, or in every language that FILE itself names (TMX, tables, ...); repeatable.",
)


def _columns(_ctx: click.Context, _param: click.Parameter, pairs: str | None) -> tuple[tuple[str, str], ...]:
    if pairs is None:
        return ()
    from index.formats.rows import columns_of

    return tuple(columns_of(pairs).items())


COLUMNS_OPTION = click.option(
    "--columns",
    metavar="MEANING=COLUMN,...",
    callback=_columns,
    help="What columns of a table are: a language code, text, language, id, group, or source and target "
    "where the column is named after the language; such as source=English,target=German.",
)
STRICT_OPTION = click.option(
    "--strict", is_flag=True, help="Refuse a file with a bad line or unit. [default: skip and list them]"
)


@dataclass(frozen=True)
class Corpora:
    """The corpus files of a command; `bad` collects bad lines and units, None refuses them."""

    sources: Sequence[Source]
    bad: BadUnits | None


def reading(command: Command) -> Command:
    """Add the options for which corpora are read and how; the command receives them as `corpora`."""

    @CORPUS_OPTION
    @FORMAT_OPTION
    @COLUMNS_OPTION
    @STRICT_OPTION
    @wraps(command)
    def with_corpora(
        corpora: Sequence[tuple[str | None, Path]],
        form: str | None,
        columns: tuple[tuple[str, str], ...],
        strict: bool,
        **options: Any,  # noqa: ANN401 (those of the command)
    ) -> object:
        bad = None if strict else BadUnits()
        sources = [Source(path, code, form, columns, bad) for code, path in corpora]
        return command(corpora=Corpora(sources, bad), **options)

    return cast(Command, with_corpora)


def report_bad_units(bad: BadUnits | None, folder: Path) -> None:
    """Report what was skipped: the first ten on standard error, all in a file beside the index."""
    if not bad:
        return
    listing = folder.with_name(f"{folder.name}.skipped.tsv")
    try:
        bad.write(listing)
    except OSError as error:
        raise UsageError(f"{listing}: cannot be written ({error.strerror})") from error
    for line in islice(bad, UNITS_SHOWN):
        click.echo(f"skipped: {line}", err=True)
    click.echo(f"{len(bad)} bad lines or units were skipped: {listing} lists all", err=True)


def _store(_ctx: click.Context, _param: click.Parameter, store: str | None) -> str | None:
    if store in (None, FILES_STORE):
        return store
    from index.vectors.milvus import parse

    return str(parse(store))


def _factory(_ctx: click.Context, _param: click.Parameter, factory: str | None) -> str | None:
    if factory in (None, "auto"):
        return factory
    from index.vectors.faiss import check_factory

    check_factory(str(factory))
    return factory


def searching(
    factory: str | None = None,
    scoring: str | None = None,
    least_count: int | None = None,
    phrases: bool | None = None,
) -> Callable[[Command], Command]:
    """Add the options for how sentences are searched and which words there are; None: unchanged."""

    def shown(value: object) -> bool | str:
        return "as before" if value is None else True

    options = (
        click.option(
            "--factory",
            metavar="STRING",
            callback=_factory,
            default=factory,
            show_default=shown(factory),
            help="The FAISS index that searches sentences, as faiss.index_factory names it, such as "
            "IVF1024,PQ128x4fs,RFlat; auto: chosen by their number.",
        ),
        click.option(
            "--store",
            metavar="milvus://HOST:PORT/NAME",
            callback=_store,
            show_default=FILES_STORE if factory else "as before",
            help="Where to keep sentence vectors: a Milvus server, milvus://PATH/FILE.db for milvus-lite, "
            f"or {FILES_STORE}.",
        ),
        click.option(
            "--scoring",
            type=click.Choice(["csls", "ratio"]),
            default=scoring,
            show_default=shown(scoring),
            help="How sentences are ranked: by CSLS or by the ratio margin.",
        ),
        click.option(
            "--least-count",
            type=click.IntRange(1),
            default=least_count,
            show_default=shown(least_count),
            help="Leave out words that occur fewer times than this.",
        ),
        click.option(
            "--phrases/--no-phrases",
            default=phrases,
            show_default=shown(phrases),
            help="Include two-word phrases among the words.",
        ),
    )

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def encoding(command: Command) -> Command:
    """Add the options for which machines encode; `engine_of` reads them."""
    ray = click.option(
        "--ray-address",
        envvar="RAY_ADDRESS",
        metavar="HOST:PORT",
        help="The Ray cluster. [default: start one on this machine]",
    )
    engine = click.option(
        "--engine",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help="Where to encode: on this machine or on a Ray cluster; the index is the same.",
    )
    return engine(ray(command))


def engine_of(kind: Literal["local", "ray"], address: str | None) -> Engine:
    from index.build.job import LOCAL_ENGINE, Engine

    return Engine(kind, address or None) if kind == "ray" else LOCAL_ENGINE


def describe(folder: Path, manifest: IndexManifest, as_json: bool) -> None:
    """Print what a version contains, in a few lines or as JSON."""
    if as_json:
        click.echo(manifest.model_dump_json(exclude={"files"}))
        return
    for code, entry in list(manifest.languages.items())[:LANGUAGES_SHOWN]:
        click.echo(_language(code, entry))
    if (more := len(manifest.languages) - LANGUAGES_SHOWN) > 0:
        click.echo(f"and {more} languages more")
    _conclude(folder, manifest)


def describe_all(folder: Path, manifest: IndexManifest) -> None:
    """Print what a version contains, how each language is searched and how well each pair answers."""
    for code, entry in manifest.languages.items():
        click.echo(f"{_language(code, entry)}, {_search(entry.search)}")
    for pair, hubness in manifest.hubness.items():
        click.echo(f"{pair}: {_quality(manifest.quality.get(pair), hubness)}")
    _conclude(folder, manifest)


def _conclude(folder: Path, manifest: IndexManifest) -> None:
    for code, entry in manifest.languages.items():
        if entry.resembles:
            click.echo(
                f"{code}: most of its lines look {language(entry.resembles).name}: are languages swapped?"
            )
    for file, count in manifest.skipped.items():
        click.echo(f"{file}: {count} sentences in languages that the encoder does not know")
    if best := [quality.r1 for quality in manifest.quality.values()]:
        click.echo(f"translations of the index found first: {min(best):.3f} to {max(best):.3f} by pair")
    confidence = "calibrated" if manifest.calibrated else "not calibrated"
    click.echo(f"{folder}: version {manifest.version}, encoder {manifest.model}, confidence {confidence}")


def _language(code: str, entry: LanguageEntry) -> str:
    dropped = "".join(f", {count} {reason}" for reason, count in entry.dropped.items())
    aligned = f", {entry.links} aligned" if entry.links else ""
    return f"{code}: {entry.sentences} sentences{aligned}, {entry.words} words ({entry.lines} lines{dropped})"


def _search(search: SearchSettings) -> str:
    where = "" if search.store == "faiss" else f"{search.store} "
    measured = "" if search.recall is None else f" ({search.parameters}), recall {search.recall:.3f}"
    return f"{where}{search.factory}{measured}"


def _quality(quality: PairQuality | None, hubness: HubnessEntry) -> str:
    """The quality of a language pair in one line."""
    crowded = f"hubness {hubness.csls:.1f} (by cosine {hubness.cosine:.1f})"
    if quality is None:
        return f"not measured, {crowded}"
    sure = "" if quality.ece is None else f", calibration error {quality.ece:.3f}"
    return f"R@1 {quality.r1:.3f}, R@10 {quality.r10:.3f} of {quality.n}{sure}, {crowded}"
