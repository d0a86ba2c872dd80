"""The report of a suite, with its bundle and command: JSON for programs, Markdown for people."""

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from pydantic import TypeAdapter

from evaluation.measures.scores import Table, mean_measures
from index.errors import DamagedError, UsageError
from index.storage.files import replace_text

PAIR_ROWS = 30  # pairs up to which a table has a row for each, beyond it one for each language
# measure -> how a report names it, where `name` does not put it together
NAMES = {
    "tied": "tied",
    "times_chance": "CSLS R@10, × chance",
    "positives": "positives found",
    "mr": "mR",
    "ece": "calibration error",
    "others_answered": "other kinds answered",
    "missing_answered": "missing answered",
    "changed": "changed by punctuation",
}
SIDES = ("source", "target")  # of a pair: asked in, answered in
RANKINGS = {"cosine": "cosine", "csls": "CSLS"}
# What rows show; means and report.json have all that was measured.
SHOWN = (
    *("csls_r1", "csls_r10", "times_chance", "csls_p1", "csls_p10", "coverage"),
    *("positives", "answered", "right", "others_answered", "missing_answered", "ece"),
)


def name(measure: str) -> str:
    """How a report names a measure: csls_r1 is CSLS R@1."""
    if measure in NAMES:
        return NAMES[measure]
    found = re.fullmatch(r"(cosine|csls)_([rp])(\d+)", measure)
    if found is None:
        return measure
    ranking, kind, k = found.groups()
    return f"{RANKINGS[ranking]} {kind.upper()}@{k}"


@dataclass(frozen=True)
class Report:
    """The tables of a suite for one bundle; `sha256` is the checksum of the bundle's manifest."""

    suite: str
    command: str
    bundle: str
    sha256: str
    date: str
    tables: tuple[Table, ...]


def read_report(folder: Path) -> Report:
    """Read the report in `folder`. Raises DamagedError if it cannot be read."""
    path = folder / "report.json"
    try:
        return TypeAdapter(Report).validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DamagedError(f"{path}: not a suite's report: run passepartout evaluate again") from error


def write_report(report: Report, folder: Path) -> None:
    """Write `folder`/report.json and report.md. Raises UsageError if `folder` is not writable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        figures = json.dumps(asdict(report), ensure_ascii=False, indent=2)  # in per cent, unrounded
        replace_text(folder / "report.json", figures + "\n")
        replace_text(folder / "report.md", as_markdown(report))
    except OSError as error:
        raise UsageError(f"{folder} cannot be written ({error.strerror}): give another --out") from error


def as_markdown(report: Report) -> str:
    """The report as Markdown: per cent to one decimal."""
    facts = f"- bundle: {report.bundle}, manifest SHA-256 `{report.sha256}`\n- date: {report.date}"
    head = [f"# {report.suite}: {report.bundle}", facts, f"```\n{report.command}\n```"]
    return page([*head, *(part for table in report.tables for part in section(table, level=2))])


def section(table: Table, level: int, *remarks: str) -> list[str]:
    """A table under a heading: what it is, its means, and a row for each pair, or language where there are
    many. `remarks` are added to what it is."""
    described = f"{table.note} n = {table.n}, {len(table.languages)} languages."
    heading = f"{'#' * level} {table.name}"
    if not table.pairs:
        return [heading, " ".join([described, *remarks]), _means(table)]
    means = "; ".join(f"{group}: {figures(values)}" for group, values in table.means.items() if values)
    rows = _by_pair(table) if len(table.pairs) <= PAIR_ROWS else _by_language(table)
    return [heading, " ".join([described, f"Mean over {means}.", *remarks]), rows]


def figures(measures: Mapping[str, float]) -> str:
    """Measures by name, to one decimal."""
    return ", ".join(f"{name(key)} {value:.1f}" for key, value in measures.items())


def summary(table: Table) -> list[str]:
    """Format the means of a table to one decimal, one line per group of languages."""
    return [f"{table.name} n={table.n} {group}: {figures(means)}" for group, means in table.means.items()]


def _means(table: Table) -> str:
    keys = list(dict.fromkeys(key for values in table.means.values() for key in values))
    rows = [[group, *_cells(values, keys)] for group, values in table.means.items()]
    return grid(["mean over", *map(name, keys)], rows)


def _by_pair(table: Table) -> str:
    keys = _shown(table)
    rows = [
        [f"{pair.source} → {pair.target}", str(pair.n), *_cells(pair.measures, keys)] for pair in table.pairs
    ]
    return grid(["from → to", "queries", *map(name, keys)], rows)


def _by_language(table: Table) -> str:
    """A row for each language: its means over the pairs in which it is the source, and the target."""
    keys = _shown(table)
    rows = []
    for code in table.languages:
        ways = ([pair for pair in table.pairs if pair.n and getattr(pair, side) == code] for side in SIDES)
        asked, answered = (_cells(mean_measures(pairs), keys) for pairs in ways)
        rows.append([code, *(cell for both in zip(asked, answered, strict=True) for cell in both)])
    head = [f"{name(key)}, {way}" for key in keys for way in ("asked in", "answered in")]
    return grid(["language", *head], rows)


def _shown(table: Table) -> list[str]:
    measured = {key for pair in table.pairs for key in pair.measures}
    return [key for key in SHOWN if key in measured] or sorted(measured)


def _cells(measures: Mapping[str, float], keys: Sequence[str]) -> list[str]:
    return [f"{measures[key]:.1f}" if key in measures else "" for key in keys]


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown: its first column names the rows, the others hold figures."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def page(paragraphs: Iterable[str]) -> str:
    """Paragraphs, headings and tables as one page."""
    return "\n\n".join(paragraphs) + "\n"


def running_command() -> str:
    """The `passepartout` command in progress with its options, but for flags, quoted for a shell."""
    context = click.get_current_context()
    words = ["passepartout", *context.command_path.removeprefix("passepartout").split()]
    for parameter in context.command.params:
        value = context.params[parameter.name or ""]
        values = value if isinstance(value, tuple) else (value,)
        for item in (item for item in values if item not in (None, "") and not isinstance(item, bool)):
            word = f"{item:g}" if isinstance(item, float) else str(item)
            words += [word] if isinstance(parameter, click.Argument) else [parameter.opts[0], word]
    return shlex.join(words)
