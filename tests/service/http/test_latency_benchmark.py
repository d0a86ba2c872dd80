"""benchmarks/service_latency.py runs, and its figures hang together."""

import json
import subprocess
import sys
from pathlib import Path

from tests.bundles import make_corpus

ROOT = Path(__file__).parents[3]


def run(index: Path, queries: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "benchmarks.service_latency",
        "--index",
        str(index),
        "--queries",
        str(queries),
    ]
    command += ["--source", "en", "--target", "de"]
    return subprocess.run([*command, *options], capture_output=True, text=True, timeout=120, cwd=ROOT)


def test_it_measures_a_served_index(index_dir: Path, tmp_path: Path) -> None:
    done = run(index_dir, make_corpus(tmp_path)["en"], "--requests", "120", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for times in (found["translate"], found["no_op"]):
        assert 0 < times["median"] <= times["p95"] <= times["p99"]
        assert times["requests"] == 120
    assert found["ratio"] == found["translate"]["median"] / found["no_op"]["median"]
    assert 50 < found["resident_mb"] <= found["peak_mb"] < 1000


def test_too_few_queries_are_reported(index_dir: Path, tmp_path: Path) -> None:
    done = run(index_dir, make_corpus(tmp_path, count=20)["en"])
    assert done.returncode != 0
    assert "20 distinct lines" in done.stderr
