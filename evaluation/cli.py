"""`passepartout evaluate`: measure an encoder bundle and write a report."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from evaluation.measures.scores import Table
from evaluation.reports.report import Report, running_command, summary, write_report
from evaluation.suites.confidence import confidence
from evaluation.suites.contrasts import contrasts
from evaluation.suites.english import everyday, picture_sets
from evaluation.suites.sets import MeasuredEncoder
from evaluation.suites.translation import aligned, multi30k, photos, pictograms, scenes
from evaluation.suites.words import dictionary_translation, read_dictionary
from index.encoder.bundle import open_bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import UsageError
from index.storage.files import sha256
from index.storage.manifest import MANIFEST_NAME

FOLDER = click.Path(file_okay=False, path_type=Path)
# Encoder, data, languages that the encoder knows -> tables.
SUITES: dict[str, Callable[[MeasuredEncoder, Path, Sequence[str]], list[Table]]] = {
    "multi30k": multi30k,
    "aligned": aligned,
    "everyday": everyday,
    "scenes": scenes,
    "photos": photos,
    "sets": picture_sets,
    "pictograms": pictograms,
}
# Of suites that build an index, which takes the encoder of a bundle.
INDEX_SUITES: dict[str, Callable[[TextEncoder, Path, Sequence[str]], list[Table]]] = {
    "confidence": confidence,
    "contrasts": contrasts,
}
WORDS = "words"


@click.command()
@click.argument("suite", type=click.Choice([*SUITES, *INDEX_SUITES, WORDS]))
@click.option("--encoder", "bundle", type=FOLDER, required=True, help="The encoder bundle.")
@click.option(
    "--data", type=FOLDER, help="The data folder (docs/data.md); for `aligned` the folder of LANG.txt files."
)
@click.option(
    "--dictionary",
    "dictionaries",
    multiple=True,
    metavar="FROM:TO=FILE",
    help="For `words`: a TSV file of words and their translations; repeatable.",
)
@click.option("--out", type=FOLDER, required=True, help="The folder to write report.json and report.md to.")
def evaluate(
    suite: str,
    bundle: Path,
    data: Path | None,
    dictionaries: tuple[str, ...],
    out: Path,
) -> None:
    """Measure how well an encoder bundle translates by retrieval (docs/evaluation.md).

    Measures the languages of the data that the bundle knows.
    """
    _check_options(suite, data, dictionaries)
    opened = open_bundle(bundle)
    encoder, known = TextEncoder(opened), opened.manifest.languages
    if data is None or suite == WORDS:
        entries = [read_dictionary(option) for option in dictionaries]
        tables = dictionary_translation(encoder, data, known, entries)
    else:
        tables = (INDEX_SUITES | SUITES)[suite](encoder, data, known)
    report = Report(
        suite=suite,
        command=running_command(),
        bundle=opened.name,
        sha256=sha256(opened.folder / MANIFEST_NAME),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        tables=tuple(tables),
    )
    write_report(report, out)
    click.echo("\n".join(line for table in report.tables for line in summary(table)))


def _check_options(suite: str, data: Path | None, dictionaries: tuple[str, ...]) -> None:
    if dictionaries and suite != WORDS:
        raise UsageError(f"--dictionary is for the suite {WORDS}, not for {suite}: leave it out")
    if suite == WORDS and not dictionaries:
        raise UsageError(f"the suite {suite} needs --dictionary")
    if data is None and suite != WORDS:
        raise UsageError("no data: give --data DIR (docs/data.md)")
