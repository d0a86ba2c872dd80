"""The benchmarks of the service run, and their figures hang together."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bundles import make_corpus
from tests.service.conftest import tool

ROOT = Path(__file__).parents[2]


def run(name: str, index: Path, queries: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"benchmarks.{name}", "--index", str(index), "--queries", str(queries)]
    command += ["--source", "en", "--target", "de", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT, check=False)


def test_latency_is_measured_beside_an_empty_endpoint(index_dir: Path, tmp_path: Path) -> None:
    done = run("service_latency", index_dir, make_corpus(tmp_path)["en"], "--requests", "120", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for times in (found["translate"], found["empty"]):
        assert 0 < times["median"] <= times["p95"] <= times["p99"]
        assert times["requests"] == 120
    assert found["ratio"] == found["translate"]["median"] / found["empty"]["median"]
    assert 50 < found["resident_mb"] <= found["peak_mb"] < 1000


def test_load_is_measured_beside_an_empty_endpoint(index_dir: Path, tmp_path: Path) -> None:
    tool("wrk")
    options = ("--seconds", "1", "--rounds", "1", "--clients", "4", "--json")
    done = run("service_load", index_dir, make_corpus(tmp_path)["en"], *options)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout[done.stdout.index("{") :])
    assert 0 < found["service"]["rate"] < found["empty"]["rate"]
    assert found["ratio"] == pytest.approx(found["service"]["rate"] / found["empty"]["rate"], abs=0.001)


def test_too_few_queries_are_reported(index_dir: Path, tmp_path: Path) -> None:
    done = run("service_latency", index_dir, make_corpus(tmp_path, count=20)["en"])
    assert done.returncode != 0
    assert "20 distinct lines" in done.stderr
