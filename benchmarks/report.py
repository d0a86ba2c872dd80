"""Gathers what benchmarks print into one report: tables and pictures, medians, ratios, the machine.

    python benchmarks/report.py record AREA --raw RAW [--times 3] -- COMMAND ...
    python benchmarks/report.py write --raw RAW --out OUT

`record` runs a command that prints JSON (as the other benchmarks do with --json) and keeps it, unchanged,
with the command, the commit and the machine, as RAW/AREA-N.json. `write` makes OUT/report.md and
OUT/report.html of all that is in RAW: repetitions of one command become medians with half their range, and
each row's first figure is divided by that of the first row.
"""

import json
import os
import platform
import shlex
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from evaluation.document import Block, Code, Grid, Heading, Picture, as_html, as_markdown, text, write
from index.files import replace_text

ROOT = Path(__file__).resolve().parents[1]
Row = tuple[str, dict[str, float]]  # a name and its figures


@click.group()
def main() -> None:
    """Record what benchmarks print, and write it as one report."""


@main.command(context_settings={"ignore_unknown_options": True})
@click.argument("area")
@click.option("--raw", type=click.Path(file_okay=False, path_type=Path), required=True)
@click.option("--times", default=1, show_default=True, help="Repetitions.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def record(area: str, raw: Path, times: int, command: tuple[str, ...]) -> None:
    """Run COMMAND and keep the JSON that it prints, as one of AREA."""
    raw.mkdir(parents=True, exist_ok=True)
    for _ in range(times):
        begun = time.monotonic()
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise click.ClickException(f"{shlex.join(command)} ended with {done.returncode}")
        kept = {
            "area": area,
            "command": shlex.join(command),
            "seconds": round(time.monotonic() - begun, 1),
            "date": time.strftime("%Y-%m-%d"),
            "commit": commit(),
            "machine": machine(),
            "result": last_json(done.stdout),
        }
        number = 1 + len(list(raw.glob(f"{area}-*.json")))
        replace_text(raw / f"{area}-{number}.json", json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


@main.command("write")
@click.option("--raw", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True)
def write_report(raw: Path, out: Path) -> None:
    """Write OUT/report.md and OUT/report.html of all that RAW holds."""
    kept = [json.loads(path.read_text("utf-8")) for path in sorted(raw.glob("*.json"))]
    if not kept:
        raise click.UsageError(f"{raw} has no *.json: `record` makes them")
    blocks = list(report(kept))
    write(out, {"report.md": as_markdown(blocks), "report.html": as_html("Benchmarks", blocks)}, blocks)
    click.echo(f"{out}/report.md, {out}/report.html: {len(kept)} recordings")


def report(kept: list[dict[str, Any]]) -> Iterator[Block]:
    from evaluation.figures import bars  # matplotlib, which recording can do without

    yield Heading(1, "Benchmarks")
    kept = sorted(kept, key=lambda one: (one["area"], one["command"]))
    for number, ((area, command), group) in enumerate(groupby(kept, key=lambda k: (k["area"], k["command"]))):
        runs = list(group)
        yield Heading(2, area)
        yield Code(command)
        times = f"{len(runs)} runs, medians ± half the range" if len(runs) > 1 else "1 run"
        commits, machines = ({run[key] for run in runs} for key in ("commit", "machine"))
        yield text(f"{times}; commit {', '.join(sorted(commits))}; {'; '.join(sorted(machines))}.")
        for part, table in enumerate(tables([list(rows(run["result"])) for run in runs])):
            yield grid(table)
            first = next(iter(next(iter(table.values()))))
            drawn = {name: figures[first] for name, figures in table.items() if first in figures}
            if len(drawn) > 1:
                yield Picture(f"{area}-{number}-{part}.svg", f"{area}: {first}", bars(drawn, first))


Table = dict[str, dict[str, tuple[float, float]]]  # row -> figure -> median, half the range


def tables(runs: Sequence[list[Row]]) -> Iterator[Table]:
    """Rows with the same figures go into one table, over all runs."""
    kinds = dict.fromkeys(tuple(figures) for run in runs for _, figures in run)
    for kind in kinds:
        values: dict[str, list[dict[str, float]]] = {}
        for name, figures in (row for run in runs for row in run):
            if tuple(figures) == kind:
                values.setdefault(name, []).append(figures)
        yield {
            name: {key: spread([one[key] for one in found]) for key in kind} for name, found in values.items()
        }


def spread(values: list[float]) -> tuple[float, float]:
    return statistics.median(values), (max(values) - min(values)) / 2


def grid(table: Table) -> Grid:
    keys = list(next(iter(table.values())))
    base = next(iter(table.values()))[keys[0]][0]
    lines = []
    for name, figures in table.items():
        shown = [f"{m:.4g}" + (f" ± {s:.2g}" if s else "") for m, s in figures.values()]
        ratio = f"{figures[keys[0]][0] / base:.2f}" if base else ""
        lines.append([name, *shown, ratio])
    return Grid(["", *keys, f"{keys[0]}, ratio"], lines)


def rows(value: Any, name: str = "") -> Iterator[Row]:  # noqa: ANN401
    """Every object with figures is a row, named by where it is and by the words in it."""
    if isinstance(value, list):
        for number, one in enumerate(value):
            words = isinstance(one, dict) and any(isinstance(v, str) for v in one.values())
            yield from rows(one, name if words else f"{name} {number + 1}".strip())
    if not isinstance(value, dict):
        return
    said = " ".join(v for v in value.values() if isinstance(v, str))
    figures = {
        k: float(v) for k, v in value.items() if isinstance(v, int | float) and not isinstance(v, bool)
    }
    if figures:
        yield f"{name} {said}".strip() or "all", figures
    for key, inner in value.items():
        yield from rows(inner, f"{name} {key}".strip())


def last_json(printed: str) -> Any:  # noqa: ANN401
    """The last JSON document of what a command printed."""
    lines = printed.strip().splitlines()
    for start in range(len(lines)):
        try:
            return json.loads("\n".join(lines[start:]))
        except ValueError:
            continue
    raise click.ClickException("the command printed no JSON: give it --json")


def commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def machine() -> str:
    """Processor, cores, memory, Python."""
    found = [line for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines() if "model name" in line]
    processor = found[0].partition(":")[2].strip() if found else platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{processor}, {os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}"


if __name__ == "__main__":
    main()
