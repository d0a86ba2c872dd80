"""`passepartout bundle card`: copies measured figures into the card of an encoder bundle."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from evaluation.measures.scores import ALL_PAIRS
from evaluation.reports.report import SHOWN, Report, page, read_report, section
from index.encoder.bundle import CARD, open_bundle, publish_bundle, staging_folder, with_section
from index.errors import UsageError
from index.storage.files import sha256
from index.storage.manifest import MANIFEST_NAME

SECTION_TITLE = "Measured quality"
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
    """Copy the figures of reports into the card and manifest of BUNDLE, by language or pair."""
    written = write_quality(bundle, [read_report(folder) for folder in folders])
    click.echo(f"{bundle / CARD}: {', '.join(written)}")


def write_quality(folder: Path, reports: Sequence[Report]) -> list[str]:
    """Write the section SECTION_TITLE into the card of the bundle in `folder`, and means into its manifest.

    Returns the names of the tables. Raises UsageError for a report of another bundle.
    """
    bundle = open_bundle(folder)
    for report in reports:
        if report.sha256 != sha256(folder / MANIFEST_NAME):
            raise UsageError(
                f"a report of {report.suite} is of another {report.bundle}: evaluate {folder} as it is now"
            )
    parts: list[str] = []
    for report in reports:
        for table in report.tables:
            parts += section(table, 3, f"`{_command(report.command)}`, {report.date[:10]}.")
    described = with_section(bundle.card.read_text("utf-8"), SECTION_TITLE, page(parts))
    measures = bundle.manifest.measures | _means(reports)
    with staging_folder(folder, folder) as staging:
        (staging / CARD).write_text(described, "utf-8")
        publish_bundle(staging, folder, bundle.manifest.model_copy(update={"measures": measures}))
    return [table.name for report in reports for table in report.tables]


def _means(reports: Sequence[Report]) -> dict[str, float]:
    """Measures for the manifest, such as photos_one_pool_csls_r1."""
    return {
        f"{re.sub(r'[^a-z0-9]+', '_', table.name.lower()).strip('_')}_{key}": round(value, 4)
        for report in reports
        for table in report.tables
        for key, value in table.means.get(ALL_PAIRS, {}).items()
        if key in SHOWN
    }


def _command(command: str) -> str:
    """The command with placeholders instead of the folders of this machine."""
    words = shlex.split(command)
    for option, placeholder in PLACEHOLDERS.items():
        if option in words:
            words[words.index(option) + 1] = placeholder
    return shlex.join(words)
