"""A report: what was measured, on what and how, as JSON for programs and as Markdown for people."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from evaluation.scores import ALL, PairScore, Table
from index.errors import UsageError

# measure -> how a report names it
NAMES = {
    "cosine_r1": "cosine R@1",
    "cosine_r10": "cosine R@10",
    "csls_r1": "CSLS R@1",
    "csls_r10": "CSLS R@10",
    "tied": "tied",
    "positives": "positives found",
}
# The matrices of a table with pairs: the measures in a cell, as far as the table has them.
MATRICES = (("csls_r1", "csls_r10"), ("cosine_r1", "cosine_r10"))


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
    measures = list(table.means[ALL])
    means = [
        [group, *(f"{found[key]:.1f}" for key in measures)] for group, found in table.means.items() if found
    ]
    parts = [
        f"## {table.name}",
        f"{table.note} n = {table.n}, {len(table.languages)} languages.",
        _grid(["mean over", *(NAMES[key] for key in measures)], means),
    ]
    for keys in ([key for key in matrix if key in measures] for matrix in MATRICES):
        if table.pairs and keys:
            title = " / ".join(NAMES[key] for key in keys)
            parts += [f"### {title}", _matrix(table, partial(_figures, keys))]
    if len({pair.n for pair in table.pairs}) > 1:
        parts += ["### queries", _matrix(table, lambda pair: str(pair.n))]
    return parts


def _matrix(table: Table, cell: Callable[[PairScore], str]) -> str:
    cells = {(pair.source, pair.target): cell(pair) for pair in table.pairs}
    codes = table.languages
    rows = [[f"**{one}**", *(cells.get((one, other), "") for other in codes)] for one in codes]
    return _grid(["from \\ to", *codes], rows)


def _figures(keys: Sequence[str], pair: PairScore) -> str:
    return " / ".join(f"{pair.measures[key]:.1f}" for key in keys) if pair.n else ""


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
