"""The report of a suite, with its bundle and command: JSON for programs, Markdown for people."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from evaluation.measures.scores import ALL_PAIRS, PairScore, Table
from evaluation.reports import document
from evaluation.reports.document import Block, Code, Grid, Heading, Picture, Text, text
from index.errors import DamagedError

RANKINGS = {"cosine": "cosine", "csls": "CSLS"}
# measure -> how a report names it
NAMES = {
    **{f"{key}_r{k}": f"{name} R@{k}" for key, name in RANKINGS.items() for k in (1, 5, 10)},
    **{f"{key}_p{k}": f"{name} P@{k}" for key, name in RANKINGS.items() for k in (1, 5, 10)},
    "tied": "tied",
    "times_chance": "CSLS R@10, × chance",
    "positives": "positives found",
    "chrf": "chrF",
    "chrf_random": "chrF, random answer",
    "chrf_best": "chrF, best answer held",
    "chrf_way": "chrF, % of the way from random to best",
    "bleu": "BLEU",
    "bleu_random": "BLEU, random answer",
    "bleu_best": "BLEU, best answer held",
    "rose_cosine_r10": "% of pairs above before, cosine",
    "rose_csls_r10": "% of pairs above before, CSLS",
    "coverage": "coverage",
    **{f"i2t_r{k}": f"I→T R@{k}" for k in (1, 5, 10)},
    **{f"t2i_r{k}": f"T→I R@{k}" for k in (1, 5, 10)},
    "mr": "mR",
    "rsum": "sum of recalls",
    "ece": "calibration error",
    "answered": "answered",
    "right": "right",
    "others_answered": "other kinds answered",
    "missing_answered": "missing answered",
    "changed": "changed by punctuation",
}
# Queries in one language alone, or with own or given translations (suite `consistency`).
NAMES |= {
    f"{questions}_{measure}": f"{questions} {label}"
    for questions in ("alone", "own", "given")
    for measure, label in (("r1", "R@1"), ("r10", "R@10"), ("mr", "mR"))
}
NAMES |= {f"before_{key}": f"{name} before Procrustes" for key, name in NAMES.items()}
# The matrices shown for a table with pairs: the measures of each cell that the table has.
MATRICES = (
    ("positives",),
    ("csls_r1", "csls_r5", "csls_r10"),
    ("cosine_r1", "cosine_r5", "cosine_r10"),
    ("before_csls_r10",),
    ("before_cosine_r10",),
    ("csls_p1", "csls_p5", "csls_p10"),
    ("coverage",),
    ("answered", "others_answered"),
    ("ece",),
    ("chrf", "bleu"),
    ("chrf_way",),
)


@dataclass(frozen=True)
class Report:
    """The tables of a suite for one bundle; `sha256` is the checksum of the bundle's manifest."""

    suite: str
    command: str
    bundle: str
    sha256: str
    date: str
    tables: tuple[Table, ...]


def as_json(report: Report) -> str:
    """Format the report as indented JSON; figures are in per cent, unrounded."""
    return json.dumps(asdict(report), ensure_ascii=False, indent=2) + "\n"


def read_tables(folder: Path) -> list[Table]:
    """Read the tables of the report in `folder`. Raises DamagedError if it cannot be read."""
    return list(read_report(folder).tables)


def read_report(folder: Path) -> Report:
    """Read the report in `folder`. Raises DamagedError if it cannot be read."""
    path = folder / "report.json"
    try:
        return TypeAdapter(Report).validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DamagedError(f"{path}: no report of a suite: run passepartout evaluate again") from error


def write_report(report: Report, folder: Path) -> None:
    """Write `folder`/report.json, report.md and pictures. Raises UsageError if `folder` is not writable."""
    content = blocks(report)
    document.write(
        folder, {"report.json": as_json(report), "report.md": document.as_markdown(content)}, content
    )


def blocks(report: Report) -> list[Block]:
    """The blocks of a report: per cent to one decimal; rows are query languages, columns answer languages."""
    head: list[Block] = [
        Heading(1, f"{report.suite}: {report.bundle}"),
        Text((f"bundle: {report.bundle}, manifest SHA-256 `{report.sha256}`", f"date: {report.date}"), True),
        Code(report.command),
    ]
    return head + [part for number, table in enumerate(report.tables, 1) for part in _section(table, number)]


def summary(table: Table) -> list[str]:
    """Format the means of a table to one decimal, one line per group of languages."""
    return [
        f"{table.name} n={table.n} {group}: "
        + ", ".join(f"{NAMES[key]} {value:.1f}" for key, value in means.items())
        for group, means in table.means.items()
    ]


def _section(table: Table, number: int) -> list[Block]:
    measures = list(table.means[ALL_PAIRS])
    means = [
        [group, *(f"{values[key]:.1f}" for key in measures)]
        for group, values in table.means.items()
        if values
    ]
    parts: list[Block] = [
        Heading(2, table.name),
        text(f"{table.note} n = {table.n}, {len(table.languages)} languages."),
        Grid(["mean over", *(NAMES[key] for key in measures)], means),
    ]
    for keys in ([key for key in matrix if key in measures] for matrix in MATRICES):
        if table.pairs and keys and table.pivot is None:
            title = " / ".join(NAMES[key] for key in keys)
            parts += [Heading(3, title), _matrix(table, partial(_figures, keys))]
    if table.pivot is not None:
        return [*parts, Heading(3, f"with {table.pivot}"), _with_pivot(table, table.pivot)]
    for key in table.drawn:
        parts += matrix_pictures(f"table{number}-{key}", NAMES[key], table.languages, pair_matrix(table, key))
    if len({pair.n for pair in table.pairs}) > 1:
        parts += [Heading(3, "queries"), _matrix(table, lambda pair: str(pair.n))]
    return parts


def pair_matrix(table: Table, key: str) -> NDArray[np.float64]:
    """One measure as an array (n, n); rows are query languages, columns answer languages; NaN: no figure."""
    place = {code: row for row, code in enumerate(table.languages)}
    values = np.full((len(place), len(place)), np.nan)
    for pair in table.pairs:
        if key in pair.measures:
            values[place[pair.source], place[pair.target]] = pair.measures[key]
    return values


def matrix_pictures(
    name: str, measure: str, codes: Sequence[str], values: NDArray[np.float64]
) -> list[Picture]:
    """Draw a matrix of language pairs, and its asymmetry."""
    # Imported here: suites without pictures need no matplotlib.
    from evaluation.reports.figures import heatmap

    return [
        Picture(f"{name}.svg", f"{measure}, by language family", heatmap(codes, values)),
        Picture(
            f"{name}-asymmetry.svg",
            f"{measure}: A − Aᵀ, above zero where the row is easier to translate from than to",
            heatmap(codes, values, asymmetry=True),
        ),
    ]


def _matrix(table: Table, cell: Callable[[PairScore], str]) -> Grid:
    cells = {(pair.source, pair.target): cell(pair) for pair in table.pairs}
    codes = table.languages
    rows = [[f"**{source}**", *(cells.get((source, target), "") for target in codes)] for source in codes]
    return Grid(["from \\ to", *codes], rows)


def _with_pivot(table: Table, pivot: str) -> Grid:
    """A language a row: how many lines, and each measure into the language `pivot` and from it."""
    pairs = {(pair.source, pair.target): pair for pair in table.pairs}
    measures = list(table.means[ALL_PAIRS])
    rows = []
    for code in table.languages:
        ways = [pairs[way] for way in ((code, pivot), (pivot, code)) if way in pairs]
        if ways:
            figures = (" / ".join(f"{pair.measures[key]:.1f}" for pair in ways) for key in measures)
            rows.append([code, " / ".join(str(pair.n) for pair in ways), *figures])
    return Grid([f"into {pivot} / from it", "queries", *(NAMES[key] for key in measures)], rows)


def _figures(keys: Sequence[str], pair: PairScore) -> str:
    return " / ".join(f"{pair.measures[key]:.1f}" for key in keys if key in pair.measures)
