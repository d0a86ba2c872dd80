"""benchmarks/report.py keeps what a command prints and tabulates it."""

import json
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import report

OPTIONS = ("data", "work", "raw", "out")
ROOT = Path(__file__).resolve().parents[2]
HELPS = """
import json, sys
from importlib import import_module
from click.testing import CliRunner
helps = []
for _, name, *words in json.loads(sys.argv[1]):
    module = import_module(name)
    done = CliRunner().invoke(module.cli if name == "passepartout" else module.main, [*words, "--help"])
    assert done.exit_code == 0, (name, words, done.output)
    helps.append(done.output)
print(json.dumps(helps))
"""
PRINTS = """
import json, random, sys
print("warming up")
print(json.dumps({"vectors": 7, "engines": [
  {"engine": "flat", "effort": "all", "median": 2.0, "recall": 1.0},
  {"engine": "graph", "effort": "64", "median": float(sys.argv[1]), "recall": 0.9}]}, indent=1))
"""


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.report", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    program = tmp_path / "engines.py"
    # Another figure each time: 0.4, then 0.6.
    program.write_text(PRINTS.replace("float(sys.argv[1])", "0.4 + 0.2 * seen"), "utf-8")
    counted = f"import pathlib; seen = len(list(pathlib.Path({str(tmp_path / 'raw')!r}).glob('*.json')))\n"
    program.write_text(counted + program.read_text("utf-8"), "utf-8")
    folder = tmp_path / "raw"
    done = run("record", "search", "--raw", folder, "--times", "2", "--", sys.executable, program)
    assert done.returncode == 0, done.stderr
    return folder


def test_what_is_recorded_is_what_was_printed(raw: Path) -> None:
    kept = [json.loads((raw / f"search-{n}.json").read_text("utf-8")) for n in (1, 2)]
    assert [one["result"]["engines"][1]["median"] for one in kept] == [0.4, pytest.approx(0.6)]
    assert kept[0]["command"].endswith("engines.py")
    assert "cores" in kept[0]["machine"]


def test_what_took_the_place_of_a_recording_does_not_overwrite_another(raw: Path) -> None:
    (raw / "search-1.json").unlink()
    second = (raw / "search-2.json").read_bytes()
    done = run("record", "search", "--raw", raw, "--", sys.executable, "-c", "print('{\"x\": 1}')")
    assert done.returncode == 0, done.stderr
    assert (raw / "search-2.json").read_bytes() == second
    assert (raw / "search-3.json").is_file()


def test_the_report_has_medians_ratios_and_pictures(raw: Path, tmp_path: Path) -> None:
    done = run("write", "--raw", raw, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "2 runs; commit" in report
    assert "| engines graph 64 | 0.5 ± 0.1 | 0.9 | 0.25 |" in report
    assert "| engines flat all | 2 | 1 | 1.00 |" in report
    assert "| all | 7 | 1.00 |" in report
    pictures = list((tmp_path / "out").glob("*.svg"))
    assert [path.name in report for path in pictures] == [True]
    assert "<svg" in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_what_prints_no_json_or_fails_is_refused(tmp_path: Path) -> None:
    silent = run("record", "x", "--raw", tmp_path, "--", sys.executable, "-c", "print('hello')")
    assert silent.returncode == 1
    assert "printed no JSON" in silent.stderr
    failed = run("record", "x", "--raw", tmp_path, "--", sys.executable, "-c", "raise SystemExit(3)")
    assert "ended with 3" in failed.stderr
    assert list(tmp_path.iterdir()) == []
    assert "has no *.json" in run("write", "--raw", tmp_path, "--out", tmp_path / "o").stderr


def test_a_plan_resumes_where_it_stopped_and_names_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = "import json; print(json.dumps({'all': {'means': {'x': 1.5}}}))"
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"""
[[step]]
command = "{{python}} -c 'open(\\"{{work}}/made\\", \\"x\\")'"
makes = "{{work}}/made"
[[step]]
area = "bad"
command = "{{python}} -c 'exit(3)'"
[[step]]
area = "needs"
command = "{{others}} -c 1"
[[step]]
area = "good"
command = {json.dumps("{python} -c " + shlex.quote(figures.replace("{", "{{").replace("}", "}}")))}
part = ["all", "means"]
""",
        "utf-8",
    )
    monkeypatch.setattr(report, "PLAN", plan)
    options = [f"--{name}={tmp_path if name in ('data', 'work') else tmp_path / name}" for name in OPTIONS]
    for _ in range(2):  # `made` is made once, the good step is taken once
        done = CliRunner().invoke(report.main, ["run", *options])
        assert done.exit_code == 1
        assert "1 steps failed" in done.output
        assert "ended with 3" in done.output
        assert "left out, without --others" in done.output
    kept = [json.loads(path.read_text("utf-8")) for path in (tmp_path / "raw").glob("*.json")]
    assert [(one["area"], one["result"]) for one in kept] == [("good", {"x": 1.5})]
    assert "| all | 1.5 |" in (tmp_path / "out" / "report.md").read_text("utf-8")


def test_the_plan_of_this_project_names_programs_that_start_and_options_that_they_have() -> None:
    steps = tomllib.loads(report.PLAN.read_text("utf-8"))["step"]
    assert [step for step in steps if ("area" in step) == ("makes" in step)] == []
    options: dict[tuple[str, ...], set[str]] = {}
    for _, *words in (shlex.split(step["command"]) for step in steps):
        first = next((n for n, word in enumerate(words) if word.startswith("--")), len(words))
        options.setdefault(tuple(words[:first]), set()).update(w for w in words if w.startswith("--"))
    done = subprocess.run(
        [sys.executable, "-c", HELPS, json.dumps(list(options))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for (start, named), help_text in zip(options.items(), json.loads(done.stdout), strict=True):
        assert [option for option in named if option not in help_text] == [], start


def test_a_seed_is_no_figure() -> None:
    assert list(report.rows({"rows": [{"seed": 3, "r1": 1.0}]})) == [("rows", {"r1": 1.0})]


def test_rows_with_the_same_first_figure_share_a_table_whatever_else_they_have() -> None:
    runs = [list(report.rows({"floor": [{"r1": 1.0, "r10": 2.0}], "best": [{"r1": 3.0, "mr": 4.0}]}))]
    (table,) = report.tables(runs)
    assert report.grid(table).rows == [["floor", "1", "2", "", "1.00"], ["best", "3", "", "4", "3.00"]]


def test_seeds_and_rounds_are_repetitions() -> None:
    (table,) = report.tables([list(report.rows({"best": [{"r1": 3.0}, {"r1": 5.0}, {"r1": 4.0}]}))])
    assert report.grid(table).rows == [["best", "4 ± 1", "1.00"]]
