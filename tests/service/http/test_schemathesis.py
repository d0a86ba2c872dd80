"""A real server under schemathesis, which reads its OpenAPI document, and under damaged requests."""

import json
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

from tests.service.observability.test_metrics import counts

ROOT = Path(__file__).parents[3]
FUZZ = [sys.executable, "-m", "benchmarks.fuzz"]


def test_every_check_of_schemathesis_passes(address: str) -> None:
    before = answered(address)
    command = [*FUZZ, "schema", "--url", address, "--examples", "5", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert json.loads(done.stdout.splitlines()[-1])["cases"] >= 200
    # Not everything was refused.
    assert answered(address) - before >= 20


def answered(address: str) -> float:
    with urlopen(f"{address}/metrics", timeout=10) as response:
        found = counts(response.read().decode())
    routes = ("/translate/sentence", "/translate/word", "/translate", "/detect")
    return sum(found.get(("passepartout_request_seconds_count", route, "200"), 0) for route in routes)


def test_mutated_requests_never_fail_it(address: str) -> None:
    command = [*FUZZ, "mutate", "--url", address, "--requests", "600", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert sum(found["statuses"].values()) + found["closed"] == 600
    assert found["faults"] == 0
    assert found["statuses"].get("200", 0) > 10
    assert found["statuses"].get("400", 0) > 10
