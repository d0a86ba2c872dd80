"""A real server under schemathesis, which reads its OpenAPI document."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from tests.service.observability.test_metrics import counts

CONFIG = Path(__file__).parents[1] / "schemathesis.toml"


def test_every_check_of_schemathesis_passes(address: str, tmp_path: Path) -> None:
    before = answered(address)
    document = tmp_path / "openapi.json"
    with urlopen(f"{address}/openapi.json", timeout=10) as response:
        document.write_text(json.dumps(with_languages(json.load(response), ["en", "de"])))
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIG), "run", str(document)]
    command += ["--url", address, "--no-color", "--max-examples", "5", "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    (cases,) = re.findall(r"(\d+) generated", done.stdout)
    assert int(cases) >= 200
    # Not everything was refused.
    assert answered(address) - before >= 20


def answered(address: str) -> float:
    with urlopen(f"{address}/metrics", timeout=10) as response:
        found = counts(response.read().decode())
    routes = ("/translate/sentence", "/translate/word", "/translate", "/detect")
    return sum(found.get(("passepartout_request_seconds_count", route, "200"), 0) for route in routes)


def with_languages(document: dict[str, Any], codes: list[str]) -> dict[str, Any]:
    """The document with these codes wherever a request names a language, or nearly all would be refused."""
    for name, schema in document["components"]["schemas"].items():
        for field in schema.get("properties", {}).keys() & {"source", "target"}:
            if name.endswith(("Request", "Form")):
                name_codes(schema["properties"][field], codes)
    return document


def name_codes(schema: dict[str, Any], codes: list[str]) -> None:
    if schema.get("type") == "string":
        schema["enum"] = codes
    for part in (*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())):
        name_codes(part, codes)
