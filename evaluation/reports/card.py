"""`passepartout card`: copies measured figures into the card of an encoder bundle, by language and pair.

With few languages the card has a table by pair; with many, means by language. The report has all pairs.
"""

import re
import shlex
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from evaluation.measures.calibration import ECE
from evaluation.measures.scores import ALL_PAIRS, Table
from evaluation.reports.document import Block, Grid, Heading, as_markdown, text
from evaluation.reports.report import NAMES, Report, pair_matrix, read_report
from index.encoder.bundle import CARD, open_bundle, publish_bundle
from index.errors import UsageError
from index.languages import language
from index.storage.files import sha256
from index.storage.manifest import MANIFEST_NAME

SECTION_TITLE = "Measured quality"
CHANCE_MEASURE = "times_chance"  # of picture sets
SENTENCE_MEASURES = ("csls_r1", "csls_r10")
WORD_MEASURES = ("csls_p1", "csls_p10")
COLUMNS = (*SENTENCE_MEASURES, CHANCE_MEASURE, *WORD_MEASURES, ECE)
MATRIX_LANGUAGES = 12  # languages of a table up to which it is shown by pair, otherwise by language
ENGLISH = "en"
PLACEHOLDERS = {"--encoder": "BUNDLE", "--data": "DIR", "--out": "REPORT"}
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.argument("bundle", type=FOLDER)
@click.option(
    "--report",
    "folders",
    type=FOLDER,
    multiple=True,
    required=True,
    help="A report of `passepartout evaluate` on this very BUNDLE; repeatable.",
)
def card(bundle: Path, folders: tuple[Path, ...]) -> None:
    """Copy the figures of reports into the card and manifest of BUNDLE, by language and pair."""
    written = write_quality(bundle, [read_report(folder) for folder in folders])
    click.echo(f"{bundle / CARD}: {', '.join(written)}")


def write_quality(folder: Path, reports: Sequence[Report]) -> list[str]:
    """Write the section SECTION_TITLE into the card of the bundle in `folder`, and means into its manifest.

    Returns the names of the tables. Raises UsageError for a report of another bundle, or without pairs.
    """
    bundle = open_bundle(folder)
    for report in reports:
        if report.sha256 != sha256(folder / MANIFEST_NAME):
            raise UsageError(
                f"a report of {report.suite} is of another {report.bundle}: evaluate {folder} as it is now"
            )
    tables = [(report, table) for report in reports for table in report.tables if _has_quality(table)]
    if not tables:
        raise UsageError(
            "no report has pairs of languages: give those of multi30k, sets, everyday, scenes or photos"
        )
    staging = folder.parent / f".{folder.name}.staging"
    shutil.rmtree(staging, ignore_errors=True)
    shutil.copytree(folder, staging)
    blocks = [block for report, table in tables for block in _section(report, table)]
    page = bundle.card.read_text("utf-8")
    (staging / CARD).write_text(
        with_section(page, as_markdown([Heading(2, SECTION_TITLE), *blocks])), "utf-8"
    )
    measures = bundle.manifest.measures | _means(table for _, table in tables)
    publish_bundle(staging, folder, bundle.manifest.model_copy(update={"measures": measures}))
    return [table.name for _, table in tables]


def with_section(page: str, section: str, title: str = SECTION_TITLE) -> str:
    """Replace the section of that title in a card; a new one is inserted before the limits."""
    page = re.sub(rf"^## {title}\n.*?(?=^## |\Z)", "", page, flags=re.DOTALL | re.MULTILINE)
    before, limits, after = page.partition("## Limits")
    return f"{before.rstrip()}\n\n{section}\n{limits}{after}" if limits else f"{before.rstrip()}\n\n{section}"


def _has_quality(table: Table) -> bool:
    return bool(table.pairs) and _shown(table)[0] in table.means.get(ALL_PAIRS, {})


def _shown(table: Table) -> tuple[str, ...]:
    means = table.means.get(ALL_PAIRS, {})
    return (
        WORD_MEASURES
        if WORD_MEASURES[0] in means
        else (*SENTENCE_MEASURES, CHANCE_MEASURE)
        if CHANCE_MEASURE in means
        else SENTENCE_MEASURES
    )


def _means(tables: Iterable[Table]) -> dict[str, float]:
    """Measures for the manifest, such as photos_one_pool_csls_r1."""
    return {
        f"{re.sub(r'[^a-z0-9]+', '_', table.name.lower()).strip('_')}_{key}": round(
            table.means[ALL_PAIRS][key], 4
        )
        for table in tables
        for key in COLUMNS
        if key in table.means[ALL_PAIRS]
    }


def _section(report: Report, table: Table) -> list[Block]:
    means = [
        f"{label}: "
        + ", ".join(f"{NAMES[key]} {value:.1f}" for key, value in values.items() if key in COLUMNS)
        for label, values in table.means.items()
        if values
    ]
    most = "Up to " if len({pair.n for pair in table.pairs}) > 1 else ""
    described = text(
        f"{table.note} {most}{table.n} candidates, {len(table.languages)} languages. "
        f"Mean over {'; '.join(means)}.",
        f"`{_command(report.command)}`, {report.date[:10]}.",
    )
    head: list[Block] = [Heading(3, table.name), described]
    if len(table.languages) > MATRIX_LANGUAGES or table.pivot is not None:
        return [*head, *_listed(table)]
    keys = _shown(table)
    title = " / ".join(NAMES[key] for key in keys)
    return [
        *head,
        _by_language(table),
        text(f"{title}, from the language of the row to that of the column:"),
        _by_pair(table, keys),
    ]


def _command(command: str) -> str:
    """The command with placeholders instead of the folders of this machine."""
    words = shlex.split(command)
    for option, placeholder in PLACEHOLDERS.items():
        if option in words:
            words[words.index(option) + 1] = placeholder
    return shlex.join(words)


def _listed(table: Table) -> list[Block]:
    """The means of a table with many languages: each language with all others, and with English."""
    ways = [pair_matrix(table, key) for key in _shown(table)]
    title = " / ".join(NAMES[key] for key in _shown(table))
    into = CHANCE_MEASURE in table.means[ALL_PAIRS]  # from English the candidates are few
    parts = {} if table.pivot else {"with all others": slice(None)}
    if ENGLISH in table.languages:
        place = table.languages.index(ENGLISH)
        parts |= {"into English" if into else "with English": slice(place, place + 1)}
    return [
        text(
            f"{title} {label}, mean over pairs: "
            + ", ".join(
                f"{code} "
                + " / ".join(
                    _figure(np.append(way[row, columns], [] if into else way[columns, row])) for way in ways
                )
                for row, code in enumerate(table.languages)
                if not label.endswith("English") or code != ENGLISH
            )
            + "."
        )
        for label, columns in parts.items()
    ]


def _by_language(table: Table) -> Grid:
    """A row for each language: its means over the pairs in which it is the source, and the target."""
    keys = [key for key in COLUMNS if key in table.means[ALL_PAIRS]]
    ways = [pair_matrix(table, key) for key in keys]
    head = ["language", *(f"{NAMES[key]}, {way}" for key in keys for way in ("asked in", "answered in"))]
    rows = [
        [
            f"{language(code).name} ({code})",
            *(_figure(column) for way in ways for column in (way[row], way[:, row])),
        ]
        for row, code in enumerate(table.languages)
    ]
    return Grid(head, rows)


def _by_pair(table: Table, keys: Sequence[str]) -> Grid:
    ways = [pair_matrix(table, key) for key in keys]
    rows = [
        [
            code,
            *(
                " / ".join(_figure(way[row, [column]]) for way in ways) if row != column else ""
                for column in range(len(table.languages))
            ),
        ]
        for row, code in enumerate(table.languages)
    ]
    return Grid(["", *table.languages], rows)


def _figure(values: NDArray[np.float64]) -> str:
    """Format the mean of the values that are not NaN."""
    figures = values[~np.isnan(values)]
    return f"{figures.mean():.1f}" if len(figures) else "-"
