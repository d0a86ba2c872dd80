"""`passepartout reproduce globetrotter`, the real command on drawn pictures: killed, resumed, reported."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.reports.report import read_tables
from passepartout import run
from tests.training.papers.globetrotter.conftest import TINY
from tests.waiting import until
from training.loop.run import Run, open_run
from training.papers.systems import read_pool

Capture = pytest.CaptureFixture[str]
SYSTEM = "globetrotter-mini"
PATIENCE = 600  # seconds, on a machine that does much else


def words(data: Path, out: Path, *more: str) -> list[str]:
    sets = [word for override in TINY for word in ("--set", override)]
    return ["reproduce", "globetrotter", "--data", str(data), "--out", str(out), "--seeds", "0", *sets, *more]


def start(words: list[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-P", "-m", "passepartout", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def at_work(folder: Path) -> list[int]:
    """The processes whose command names something in `folder`."""
    processes = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
        except OSError:  # it has just ended
            continue
        if str(folder).encode() in command and int(entry.name) != os.getpid():
            processes.append(int(entry.name))
    return processes


def test_after_a_kill_the_training_of_a_system_is_resumed(scenes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked = words(scenes, out, "--only", f"words-different.{SYSTEM}.*", "--set", "optimiser.epochs=12")
    with start(asked) as process:
        until(lambda: list(out.glob("work/sentences.*/run/last.safetensors")), "no checkpoint", PATIENCE)
        process.send_signal(signal.SIGKILL)
        process.wait()
    until(lambda: not at_work(out), "its training goes on", PATIENCE)
    (folder,) = out.glob(f"work/sentences.{SYSTEM}.0-*")
    trained = Run(folder / "run", open_run(folder / "run").recipe)
    assert not trained.result_file.exists(), "it was killed before the end"
    begun = trained.tokenizer_file.stat().st_mtime_ns

    with start(asked) as process:
        said = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 0, said
    assert trained.result()["epochs"] == 12
    assert trained.tokenizer_file.stat().st_mtime_ns == begun, "the run was gone on with"
    check_report(out, folder)


def check_report(out: Path, folder: Path) -> None:
    report = (out / "report.md").read_text("utf-8")
    assert "3 of 3 steps done" in report
    assert "--only 'words-different.globetrotter-mini.*'" in report, "the command"
    positives = read_pool(folder / "photos").means["all"]["positives"]
    assert re.search(rf"^\| {SYSTEM} \| {positives:.1f} \| .* \| 1 \| \d+\.\d \|$", report, re.MULTILINE)
    assert "% of supervised" not in report, "the ceiling was not asked for"
    (measured,) = out.glob("work/words.*")
    differing = read_tables(measured)[1].means["all"]["csls_r10"]
    part = report[report.index("whole words spelt differently") :]
    assert re.search(rf"^\| {SYSTEM} \|.* {differing:.1f} \|", part, re.MULTILINE)
    assert (out / f"sentences-{SYSTEM}-1-asymmetry.svg").is_file(), "Fig. 9"
    assert "<svg" in (out / "report.html").read_text("utf-8")


def test_without_a_budget_all_is_listed_and_nothing_is_run(
    scenes: Path, tmp_path: Path, capsys: Capture
) -> None:
    capsys.readouterr()
    assert run(words(scenes, tmp_path / "out", "--budget", "0", "--only", "sentences.*")) == 0
    out, _ = capsys.readouterr()
    assert "sentences.supervised.0: left, about 12m00s, over the budget" in out.splitlines()
    report = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "0 of 13 steps done" in report
    assert "- `sentences.supervised.0` left: about 12m00s, over the budget" in report.splitlines()
    assert "--budget 0" in report
    assert not (tmp_path / "out" / "work").exists()


def test_a_failing_system_is_reported_and_does_not_stop_others(
    scenes: Path, tmp_path: Path, capsys: Capture
) -> None:
    """A loss that explodes, and a step in closed form, which has none."""
    more = ("--set", "optimiser.learning_rate=1e30", "--set", "optimiser.clip_norm=null")
    only = ("--only", "sentences.ridge.0", "--only", f"corpus.{SYSTEM}.0")
    assert run(words(scenes, tmp_path / "out", *more, *only)) == 1
    out, err = capsys.readouterr()
    assert f"sentences.{SYSTEM}.0: failed: train {SYSTEM}: the loss is not finite" in out
    assert "1 steps failed" in err.splitlines()[-1]
    report = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert f"- `corpus.{SYSTEM}.0` left: needs sentences.{SYSTEM}.0" in report
    assert re.search(r"^\| ridge \| \d", report, re.MULTILINE)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--seeds", "0,0"], "--seeds 0,0: give whole numbers from 0, each once"),
        (["--seeds", "one"], "--seeds one: give whole numbers"),
        (["--seeds", "-1"], "--seeds -1: give whole numbers"),
        (["--only", "spam.*"], "--only spam.*: no such step"),
        (["--set", "spam=1"], "unknown key spam"),
        (["--data", "none"], "images.tar: cannot be read"),
        (["--budget", "-1"], "--budget"),
    ],
)
def test_wrong_use_is_one_line(
    scenes: Path, tmp_path: Path, capsys: Capture, more: list[str], said: str
) -> None:
    capsys.readouterr()
    assert run(words(scenes, tmp_path / "out", *more)) == 2
    out, err = capsys.readouterr()
    *usage, line = err.splitlines()
    assert line.startswith("Error: " if usage else "passepartout: ")
    assert said in line
    assert out == ""
    assert not (tmp_path / "out").exists()


def test_the_commands_of_the_door_bring_no_torch() -> None:
    code = "import training.papers.cli, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
