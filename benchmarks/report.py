"""Gathers what benchmarks print into one report: tables and pictures, medians, ratios, the machine.

    python -m benchmarks.report record AREA --raw RAW [--times 3] -- COMMAND ...
    python -m benchmarks.report write --raw RAW --out OUT
    python -m benchmarks.report run --raw RAW --out OUT --data DIR --work WORK [--only AREA] \\
        [--others PYTHON] [--minilm PYTHON] [--infinity PYTHON]

`run` does all that benchmarks/plan.toml lists, in its order, but for what RAW has already, then `write`. It
takes hours and can be resumed; a step that fails is named, and the others are run.

`record` runs a command that prints JSON (as the other benchmarks do with --json) and keeps it, unchanged,
with the command, the commit and the machine, as RAW/AREA-N.json. `write` makes OUT/report.md and
OUT/report.html of all that is in RAW: repetitions become medians with half their range, and
each row's first figure is divided by that of the first row.
"""

import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import click

from evaluation.reports.document import Block, Code, Grid, Heading, Picture, as_html, as_markdown, text, write
from index.storage.files import replace_text

ROOT = Path(__file__).resolve().parents[1]
Row = tuple[str, dict[str, float]]  # a name and its figures


PLAN = Path(__file__).with_name("plan.toml")
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group()
def main() -> None:
    """Record what benchmarks print, and write it as one report."""


@main.command(context_settings={"ignore_unknown_options": True})
@click.argument("area")
@click.option("--raw", type=FOLDER, required=True)
@click.option("--times", default=1, show_default=True, help="Repetitions.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def record(area: str, raw: Path, times: int, command: tuple[str, ...]) -> None:
    """Run COMMAND and keep the JSON that it prints, as one of AREA."""
    for _ in range(times):
        record_command(area, raw, command, shlex.join(command))


def record_command(
    area: str,
    raw: Path,
    command: Sequence[str],
    shown: str,
    result: Path | None = None,
    part: Sequence[str | int] = (),
) -> None:
    """Run a command and keep the JSON that it prints, or writes to `result`, or what that has at the keys
    `part`, with the command as it is `shown`; ClickException if it fails."""
    began = time.monotonic()
    printed = output(command)
    document = json.loads(result.read_text("utf-8")) if result else last_json(printed)
    for key in part:
        document = document[key]
    recording = {
        "area": area,
        "command": shown,
        "seconds": round(time.monotonic() - began, 1),
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit(),
        "machine": machine(),
        "result": document,
    }
    raw.mkdir(parents=True, exist_ok=True)
    number = 1 + max((int(path.stem.rpartition("-")[2]) for path in raw.glob(f"{area}-*.json")), default=0)
    replace_text(raw / f"{area}-{number}.json", json.dumps(recording, indent=1, ensure_ascii=False) + "\n")


def output(command: Sequence[str]) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        raise click.ClickException(f"{shlex.join(command)} ended with {done.returncode}")
    return done.stdout


@main.command("run")
@click.option("--raw", type=FOLDER, required=True)
@click.option("--out", type=FOLDER, required=True)
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--work", type=FOLDER, required=True, help="Where indices and runs are kept.")
@click.option("--only", multiple=True, metavar="AREA", help="These areas alone, and what prepares them.")
@click.option("--others", default="", help="An interpreter with what benchmarks/encoding.py names.")
@click.option("--minilm", default="", help="One with what benchmarks/service_load.py names.")
@click.option("--infinity", default="", help="One with infinity_emb.")
@click.pass_context
def run_plan(
    context: click.Context,
    /,
    raw: Path,
    out: Path,
    data: Path,
    work: Path,
    only: tuple[str, ...],
    **pythons: str,
) -> None:
    """Do what PLAN lists and is not recorded yet, then write the report."""
    given = {"data": data.resolve(), "work": work.resolve(), "python": sys.executable, **pythons}
    failed = 0
    for step in tomllib.loads(PLAN.read_text("utf-8"))["step"]:
        if only and step.get("area", only[0]) not in only:
            continue
        try:
            run_step(step, raw, given)
        except (click.ClickException, OSError) as error:
            click.echo(f"failed: {getattr(error, 'message', error)}", err=True)
            failed += 1
    context.invoke(write_report, raw=raw, out=out)
    if failed:
        raise click.ClickException(f"{failed} steps failed: repeat the command to try them again")


def run_step(step: Mapping[str, Any], raw: Path, given: Mapping[str, object]) -> None:
    """Run one step of the plan, unless its result is there already, or an option that it needs is not given.

    The command is recorded as the plan has it, without the paths of this machine.
    """
    command = [part.format_map(given) for part in shlex.split(step["command"])]
    missing = [name for name, value in given.items() if f"{{{name}}}" in step["command"] and not value]
    if missing:
        click.echo(f"left out, without --{', --'.join(missing)}: {shlex.join(command)}", err=True)
    elif "area" not in step:
        if not Path(step["makes"].format_map(given)).exists():
            output(command)
    elif step["command"] not in {
        json.loads(path.read_text("utf-8"))["command"] for path in raw.glob("*.json")
    }:
        click.echo(f"{step['area']}: {shlex.join(command)}", err=True)
        result = Path(step["result"].format_map(given)) if "result" in step else None
        record_command(step["area"], raw, command, step["command"], result, step.get("part", ()))


@main.command("write")
@click.option("--raw", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--out", type=FOLDER, required=True)
def write_report(raw: Path, out: Path) -> None:
    """Write OUT/report.md and OUT/report.html of all that RAW holds."""
    recordings = [json.loads(path.read_text("utf-8")) for path in sorted(raw.glob("*.json"))]
    if not recordings:
        raise click.UsageError(f"{raw} has no *.json: `record` makes them")
    blocks = list(report(recordings))
    write(out, {"report.md": as_markdown(blocks), "report.html": as_html("Benchmarks", blocks)}, blocks)
    click.echo(f"{out}/report.md, {out}/report.html: {len(recordings)} recordings")


def report(recordings: list[dict[str, Any]]) -> Iterator[Block]:
    from evaluation.reports.figures import bars  # matplotlib, which recording can do without

    yield Heading(1, "Benchmarks")
    yield text("Medians ± half the range where something was repeated: runs, rounds of one, or seeds.")
    steps: Counter[str] = Counter()
    by_command = itemgetter("area", "command")
    for (area, command), group in groupby(sorted(recordings, key=by_command), key=by_command):
        runs = list(group)
        if not steps[area]:
            yield Heading(2, area)
        steps[area] += 1
        yield Code(command)
        times = f"{len(runs)} runs" if len(runs) > 1 else "1 run"
        commits, machines = ({run[key] for run in runs} for key in ("commit", "machine"))
        yield text(f"{times}; commit {', '.join(sorted(commits))}; {'; '.join(sorted(machines))}.")
        for part, table in enumerate(tables([list(rows(run["result"])) for run in runs])):
            yield grid(table)
            first = next(iter(next(iter(table.values()))))
            drawn = {name: figures[first] for name, figures in table.items() if first in figures}
            if len(drawn) > 1:
                yield Picture(f"{area}-{steps[area]}-{part}.svg", f"{area}: {first}", bars(drawn, first))


Table = dict[str, dict[str, tuple[float, float]]]  # row -> figure -> median, half the range


def tables(runs: Sequence[list[Row]]) -> Iterator[Table]:
    """Rows whose first figure is the same one go into one table, over all runs."""
    for first in dict.fromkeys(next(iter(figures)) for run in runs for _, figures in run):
        values: dict[str, list[dict[str, float]]] = {}
        for name, figures in (row for run in runs for row in run):
            if next(iter(figures)) == first:
                values.setdefault(name, []).append(figures)
        yield {
            name: {key: spread([row[key] for row in rows if key in row]) for key in rows[0]}
            for name, rows in values.items()
        }


def spread(values: list[float]) -> tuple[float, float]:
    return statistics.median(values), (max(values) - min(values)) / 2


def grid(table: Table) -> Grid:
    keys = list(dict.fromkeys(key for figures in table.values() for key in figures))
    base = next(iter(table.values()))[keys[0]][0]
    lines = []
    for name, figures in table.items():
        shown = [as_text(*figures[key]) if key in figures else "" for key in keys]
        ratio = f"{figures[keys[0]][0] / base:.2f}" if base else ""
        lines.append([name, *shown, ratio])
    return Grid(["", *keys, f"{keys[0]}, ratio"], lines)


def as_text(median: float, half: float) -> str:
    return f"{median:.4g}" + (f" ± {half:.2g}" if half else "")


def rows(value: Any, name: str = "") -> Iterator[Row]:  # noqa: ANN401
    """Every object with figures is a row, named by where it is and by the words in it: what stands in a list
    without words is repetitions of one. A seed tells repetitions apart, it is no figure of theirs."""
    if isinstance(value, list):
        for item in value:
            yield from rows(item, name)
    if not isinstance(value, dict):
        return
    words = " ".join(v for v in value.values() if isinstance(v, str))
    figures = {
        k: float(v)
        for k, v in value.items()
        if isinstance(v, int | float) and not isinstance(v, bool) and k != "seed"
    }
    if figures:
        yield f"{name} {words}".strip() or "all", figures
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
    lines = [line for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines() if "model name" in line]
    processor = lines[0].partition(":")[2].strip() if lines else platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{processor}, {os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}"


if __name__ == "__main__":
    main()
