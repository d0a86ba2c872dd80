"""A real server under schemathesis, which reads its OpenAPI document, and under damaged requests."""

import json
import random
import re
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

from tests.service.observability.test_metrics import counts

CONFIG = Path(__file__).parents[1] / "schemathesis.toml"
DAMAGED_REQUESTS = 600
ODD_BYTES = (b"\0", b"\r\n", b"\xff", b'"', b"\\", b"{", b"[", b"%", b"\xed\xa0\x80", b"1e999", b"null")
BODIES = (
    ("/translate/sentence", b'{"text": ["A dog.", "A cat."], "source": "en", "target": ["de"], "k": 2}'),
    ("/translate/word", b'{"word": "dog", "source": "en", "target": ["de"], "min_confidence": 0.2}'),
    ("/translate", b'{"q": ["<b>A dog.</b>"], "source": "auto", "target": "de", "format": "html"}'),
    ("/detect", b'{"q": "A dog runs."}'),
)


def test_every_check_of_schemathesis_passes(address: str, tmp_path: Path) -> None:
    before = answered(address)
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(with_languages(asked(address, "/openapi.json"), ["en", "de"])))
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIG), "run", str(document)]
    command += ["--url", address, "--no-color", "--max-examples", "5", "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    (cases,) = re.findall(r"(\d+) generated", done.stdout)
    assert int(cases) >= 200
    # Not everything was refused.
    assert answered(address) - before >= 20


def asked(address: str, path: str) -> Any:  # noqa: ANN401
    with urlopen(address + path, timeout=10) as response:
        return json.load(response)


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


def test_damaged_requests_never_fail_it(address: str) -> None:
    chance = random.Random(1)
    statuses = Counter(sent(address, damaged_request(chance)) for _ in range(DAMAGED_REQUESTS))
    assert {status for status in statuses if status >= 500 and status != 503} == set()
    assert statuses[200] > 10
    assert statuses[400] > 10


def damaged_request(chance: random.Random) -> bytes:
    path, body = chance.choice(BODIES)
    body = damaged(body, chance) if chance.random() < 0.5 else body
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
    whole = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    return whole if chance.random() < 0.5 else damaged(whole, chance)


def damaged(given: bytes, chance: random.Random) -> bytes:
    """One to three times: a byte flipped, a part removed or repeated, something odd put in."""
    changed = bytearray(given)
    for _ in range(chance.randint(1, 3)):
        begin = chance.randrange(len(changed))
        end = min(len(changed), begin + chance.randint(1, 12))
        match chance.randrange(4):
            case 0:
                changed[begin] ^= 1 << chance.randrange(8)
            case 1 if end - begin < len(changed):
                del changed[begin:end]
            case 2:
                changed[begin:begin] = changed[begin:end] * chance.choice((1, 2, 300))
            case _:
                changed[begin:begin] = chance.choice(ODD_BYTES)
    return bytes(changed)


def sent(address: str, request: bytes) -> int:
    """The status that a request gets; 0 where the connection is closed without one."""
    with socket.create_connection(("127.0.0.1", urlsplit(address).port), timeout=15) as connection:
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)  # a request that lacks an end is over all the same
            line = b"".join(iter(lambda: connection.recv(4096), b"")).split(b"\r\n", 1)[0]
        except ConnectionError:
            return 0
    found = re.match(rb"HTTP/1\.1 (\d{3})", line)
    return int(found[1]) if found else 0
