"""`passepartout evaluate`: measure an encoder bundle and write a report."""

import shlex
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import click

from evaluation.report import Report, as_json, summary, write_report
from evaluation.suites import EXTRAS, SUITES
from index.bundle import open_bundle
from index.encoder import TextEncoder
from index.errors import UsageError
from index.files import sha256
from index.manifest import NAME

FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("suite", type=click.Choice(list(SUITES)))
@click.option("--encoder", "bundle", type=FOLDER, required=True, help="The encoder bundle.")
@click.option("--data", type=FOLDER, required=True, help="The data (docs/data.md); for `aligned` its folder.")
@click.option("--languages", default="", help="Average over these too, for example en,de,pt.")
@click.option("--out", type=FOLDER, required=True, help="The folder that report.json and report.md go to.")
@click.option("--json", "as_object", is_flag=True, help="Print report.json instead of the means.")
def evaluate(suite: str, bundle: Path, data: Path, languages: str, out: Path, as_object: bool) -> None:
    """Measure how well an encoder bundle translates by retrieval.

    Languages: those of the data that the bundle knows, and any that --languages names besides.
    """
    for module in EXTRAS.get(suite, ()):
        import_module(module)  # a missing one is the front door's one line, now and not after the work
    opened, chosen = open_bundle(bundle), _codes(languages)
    tables = SUITES[suite](TextEncoder(opened), data, opened.manifest.languages, chosen)
    report = Report(
        suite=suite,
        command=_command(suite, bundle, data, languages, out),
        bundle=opened.name,
        sha256=sha256(bundle / NAME),
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


def _command(suite: str, bundle: Path, data: Path, languages: str, out: Path) -> str:
    options = ["--encoder", str(bundle), "--data", str(data)]
    options += ["--languages", languages] if languages else []
    return shlex.join(["passepartout", "evaluate", suite, *options, "--out", str(out)])
