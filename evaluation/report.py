"""A report: what was measured, on what and how, as JSON for programs and as Markdown for people."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from evaluation.scores import PairScore, Table
from index.errors import UsageError

# measure -> how a report names it
NAMES = {
    "cosine_r1": "cosine R@1",
    "cosine_r10": "cosine R@10",
    "csls_r1": "CSLS R@1",
    "csls_r10": "CSLS R@10",
    "csls_r10_differing": "CSLS R@10, differing words",
    "tied": "tied",
    "positives": "positives found",
}
# The pair matrices of a table: title, and the two measures in a cell.
MATRICES = (
    ("CSLS, R@1 / R@10", ("csls_r1", "csls_r10")),
    ("Cosine, R@1 / R@10", ("cosine_r1", "cosine_r10")),
)


@dataclass(frozen=True)
class Report:
    """`sha256` is that of the bundle's manifest, which holds the checksums of its files."""

    suite: str
    command: str
    bundle: str
    sha256: str
    date: str
    tables: tuple[Table, ...]


def as_json(report: Report) -> str:
    """The report as indented JSON; figures in per cent, unrounded."""
    return json.dumps(asdict(report), ensure_ascii=False, indent=2) + "\n"


def write_report(report: Report, folder: Path) -> None:
    """Write `folder`/report.json and `folder`/report.md; UsageError if that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.json").write_text(as_json(report), encoding="utf-8")
        (folder / "report.md").write_text(as_markdown(report), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written ({error.strerror}): give another --out") from error


def as_markdown(report: Report) -> str:
    """The report for reading: per cent to one decimal; rows are languages of queries, columns of answers."""
    head = [
        f"# {report.suite}: {report.bundle}",
        f"- bundle: {report.bundle}, manifest SHA-256 `{report.sha256}`\n- date: {report.date}",
        f"```\n{report.command}\n```",
    ]
    return "\n\n".join(head + [part for table in report.tables for part in _sections(table)]) + "\n"


def summary(table: Table) -> list[str]:
    """A line for each group of languages: the means to one decimal."""
    return [
        f"{table.name} n={table.n} {group}: "
        + ", ".join(f"{NAMES[key]} {value:.1f}" for key, value in means.items())
        for group, means in table.means.items()
    ]


def _sections(table: Table) -> list[str]:
    measures = list(next(iter(table.means.values())))
    rows = [
        [group, *(f"{means[key]:.1f}" for key in measures)] for group, means in table.means.items() if means
    ]
    means = _grid(["mean over", *(NAMES[key] for key in measures)], rows)
    parts = [
        f"## {table.name}",
        f"{table.note} {table.n} a language, {len(table.languages)} languages.",
        means,
    ]
    for title, keys in MATRICES:
        if table.pairs and set(keys) <= set(table.pairs[0].measures):
            parts += [f"### {title}", _matrix(table, keys)]
    return parts


def _matrix(table: Table, keys: Sequence[str]) -> str:
    cells = {(pair.source, pair.target): _cell(pair, keys) for pair in table.pairs}
    rows = [
        [f"**{one}**", *(cells.get((one, other), "") for other in table.languages)] for one in table.languages
    ]
    return _grid(["from \\ to", *table.languages], rows)


def _cell(pair: PairScore, keys: Sequence[str]) -> str:
    return " / ".join(f"{pair.measures[key]:.1f}" for key in keys)


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
