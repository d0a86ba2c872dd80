"""`passepartout evaluate`: measure an encoder bundle and write a report."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from evaluation.measures.scores import Table
from evaluation.reports.document import running_command
from evaluation.reports.report import Report, as_json, summary, write_report
from evaluation.suites.confidence import confidence
from evaluation.suites.english import everyday, picture_sets
from evaluation.suites.retrieval import read_pictures, retrieval
from evaluation.suites.translation import aligned, multi30k, photos, pictograms, scenes
from evaluation.suites.words import dictionary_translation, read_dictionary
from index.encoder.text_encoder import TextEncoder
from index.errors import UsageError
from index.importing.named import open_encoder
from index.storage.files import sha256
from index.storage.manifest import MANIFEST_NAME

FOLDER = click.Path(file_okay=False, path_type=Path)
# Encoder, data, languages that the encoder knows, languages to average over too -> tables.
SUITES: dict[str, Callable[[TextEncoder, Path, Sequence[str], Sequence[str]], list[Table]]] = {
    "multi30k": multi30k,
    "aligned": aligned,
    "everyday": everyday,
    "scenes": scenes,
    "photos": photos,
    "sets": picture_sets,
    "pictograms": pictograms,
    "confidence": confidence,
}
WORDS, RETRIEVAL = "words", "retrieval"  # suites that need more than data


@click.command()
@click.argument("suite", type=click.Choice([*SUITES, WORDS, RETRIEVAL]))
@click.option(
    "--encoder", "bundle", type=FOLDER, required=True, help="The encoder bundle, or use-multilingual."
)
@click.option(
    "--data", type=FOLDER, help="The data folder (docs/data.md); for `aligned` the folder of LANG.txt files."
)
@click.option("--languages", default="", help="Also average over these, such as en,de,pt.")
@click.option(
    "--dictionary",
    "dictionaries",
    multiple=True,
    metavar="FROM:TO=FILE",
    help="For `words`: a TSV file of words and their translations; repeatable.",
)
@click.option(
    "--pictures",
    type=click.Path(dir_okay=False, path_type=Path),
    help="For `retrieval`: the file that `passepartout pictures` wrote.",
)
@click.option("--out", type=FOLDER, required=True, help="The folder to write report.json and report.md to.")
@click.option("--json", "as_object", is_flag=True, help="Print report.json instead of the means.")
def evaluate(
    suite: str,
    bundle: Path,
    data: Path | None,
    languages: str,
    dictionaries: tuple[str, ...],
    pictures: Path | None,
    out: Path,
    as_object: bool,
) -> None:
    """Measure how well an encoder bundle translates by retrieval (docs/evaluation.md).

    Measures the languages of the data that the bundle knows, and any others named by --languages.
    """
    run = _run(suite, data, _codes(languages), dictionaries, pictures)
    opened = open_encoder(bundle)
    tables = run(TextEncoder(opened), opened.manifest.languages)
    report = Report(
        suite=suite,
        command=running_command(),
        bundle=opened.name,
        sha256=sha256(opened.folder / MANIFEST_NAME),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        tables=tuple(tables),
    )
    write_report(report, out)
    lines = [line for table in tables for line in summary(table)]
    click.echo(as_json(report).rstrip() if as_object else "\n".join(lines))


def _codes(languages: str) -> list[str]:
    codes = [code.strip() for code in languages.split(",")] if languages else []
    if "" in codes or len(set(codes)) != len(codes):
        raise UsageError(f"--languages {languages}: give each code once, separated by commas: en,de,pt")
    return codes


def _run(
    suite: str,
    data: Path | None,
    chosen: list[str],
    dictionaries: tuple[str, ...],
    pictures: Path | None,
) -> Callable[[TextEncoder, Sequence[str]], list[Table]]:
    """What is to be measured, given an encoder and the languages that it knows."""
    for option, given, needed_by in (
        ("--dictionary", dictionaries, WORDS),
        ("--pictures", pictures, RETRIEVAL),
    ):
        if given and suite != needed_by:
            raise UsageError(f"{option} is for the suite {needed_by}, not for {suite}: leave it out")
        if suite == needed_by and not given:
            raise UsageError(f"the suite {suite} needs {option}")
    if suite == WORDS:
        entries = [read_dictionary(option) for option in dictionaries]
        return lambda encoder, known: dictionary_translation(encoder, data, known, chosen, entries)
    if data is None:
        raise UsageError("no data: give --data DIR (docs/data.md)")
    if pictures is None:
        return lambda encoder, known: SUITES[suite](encoder, data, known, chosen)
    embedded = read_pictures(pictures)
    return lambda encoder, known: retrieval(encoder, data, known, chosen, embedded)
