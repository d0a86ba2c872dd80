"""`passepartout evaluate`: measure an encoder bundle and write a report."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import click

from evaluation.measures.scores import Table
from evaluation.reports.document import running_command
from evaluation.reports.report import Report, as_json, summary, write_report
from evaluation.suites.registry import EXTRAS, PICTURE_SUITES, SUITES
from evaluation.suites.retrieval import read_pictures
from evaluation.suites.words import dictionary_translation, read_dictionary
from index.encoder.text_encoder import TextEncoder
from index.errors import UsageError
from index.importing.named import open_encoder
from index.storage.files import sha256
from index.storage.manifest import MANIFEST_NAME

FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("suite", type=click.Choice(list(SUITES | PICTURE_SUITES)))
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
    help="For `retrieval`, and optionally `consistency`: the file that `passepartout pictures` wrote.",
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
    for module in EXTRAS.get(suite, ()):
        import_module(module)  # a missing one is the front door's one line, now and not after the work
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
    if dictionaries:
        if suite != "words":
            raise UsageError(f"--dictionary is for the suite words, not for {suite}: leave it out")
        entries = [read_dictionary(option) for option in dictionaries]
        return lambda encoder, known: dictionary_translation(encoder, data, known, chosen, entries)
    if pictures is None and suite not in SUITES:
        raise UsageError(f"the suite {suite} needs --pictures: passepartout pictures writes the file")
    if pictures is not None and suite not in PICTURE_SUITES:
        raise UsageError(f"--pictures is for {' and '.join(PICTURE_SUITES)}, not for {suite}: leave it out")
    if data is None:
        raise UsageError("no data: give --data DIR (docs/data.md)")
    if pictures is None:
        return lambda encoder, known: SUITES[suite](encoder, data, known, chosen)
    embedded = read_pictures(pictures)
    return lambda encoder, known: PICTURE_SUITES[suite](encoder, data, known, chosen, embedded)
