"""A running service under requests that nobody would send: 0 of them may end in a fault (5xx but 503).

    python -m benchmarks.fuzz schema --url http://127.0.0.1:8000 --examples 500    # schemathesis, every check
    python -m benchmarks.fuzz mutate --url http://127.0.0.1:8000 --requests 100000

`schema` asks what the OpenAPI document allows and what it forbids; the languages of the index are entered
into it, so that not everything ends at an unknown language. `mutate` damages right requests, byte by byte:
their lines, headers and bodies. Exit 1 where anything failed.
"""

import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import click

CONFIG = Path(__file__).parents[1] / "tests" / "service" / "schemathesis.toml"
ANSWER_TIMEOUT = 15.0  # without an answer: a fault
TOO_LATE = 599
CONNECTIONS = 16
ODD_BYTES = (
    b"\0",
    b"\r\n",
    b"\xff",
    b'"',
    b"\\",
    b"{",
    b"[",
    b"%",
    b"\xed\xa0\x80",
    b"1e999",
    b"-1",
    b"null",
)
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1e308, 10**40, "", "en", "de", "\0", "\ud800", "\u202eab", [], {}, [[]], {"a": 1}),
    *(
        "e\u0301" * 400,
        "👩\u200d" * 300,
        "狗" * 900,
        "x" * 1001,
        ["A dog."] * 300,
        "<img src=x>",
        "%s{0}",
        "../x",
    ),
)
LANGUAGE_FIELDS = ("source", "target")
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
BODIES: tuple[tuple[str, str, bytes], ...] = (
    (
        "/translate/sentence",
        JSON,
        b'{"text": ["A dog.", "A cat."], "source": "en", "target": ["de"], "k": 2}',
    ),
    ("/translate/sentence", JSON, b'{"text": "A dog runs.", "target": "de", "explain": true, "k": 3}'),
    ("/translate/word", JSON, b'{"word": "dog", "source": "en", "target": ["de"], "min_confidence": 0.2}'),
    ("/translate", JSON, b'{"q": "A dog.", "source": "auto", "target": "de", "alternatives": 2}'),
    ("/translate", JSON, b'{"q": ["<b>A dog.</b>"], "source": "en", "target": "de", "format": "html"}'),
    ("/translate", FORM, b"q=A+dog&source=en&target=de&alternatives=1"),
    ("/detect", FORM, b"q=A+dog+runs"),
)
PATHS = ("/", "/languages", "/health/ready", "/openapi.json", "/tmserver/en/de/unit/A%20dog?min_similarity=9")


@click.group()
def main() -> None:
    """Requests that nobody would send."""


@main.command()
@click.option("--url", required=True, help="The service.")
@click.option("--examples", default=200, show_default=True, help="Requests for an operation, in a phase.")
@click.option("--seed", default=1, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON last.")
def schema(url: str, examples: int, seed: int, as_json: bool) -> None:
    """schemathesis with every check, over the whole OpenAPI document."""
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "openapi.json"
        codes = [language["code"] for language in _get(url, "/languages")]
        document.write_text(json.dumps(_with_languages(_get(url, "/openapi.json"), codes)))
        command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIG)]
        command += ["run", str(document), "--url", url, "--no-color"]
        command += ["--max-examples", str(examples), "--seed", str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    click.echo(done.stdout)
    click.echo(done.stderr, err=True)
    cases = re.search(r"(\d+) generated", done.stdout)
    if as_json:
        click.echo(json.dumps({"cases": int(cases[1]) if cases else 0, "passed": done.returncode == 0}))
    sys.exit(1 if done.returncode or not cases else 0)


def _get(url: str, path: str) -> Any:  # noqa: ANN401
    with urlopen(url + path, timeout=ANSWER_TIMEOUT) as response:
        return json.load(response)


def _with_languages(document: dict[str, Any], codes: list[str]) -> dict[str, Any]:
    """The document with the codes of the index wherever the body of a request names a language."""
    schemas = document["components"]["schemas"]
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    bodies = [operation["requestBody"] for operation in operations if "requestBody" in operation]
    named = sorted(set(re.findall(r"#/components/schemas/(\w+)", json.dumps(bodies))))
    for part in [*bodies, *(schemas[name] for name in named)]:
        _name_languages(part, codes)
    return document


def _name_languages(part: Any, codes: list[str]) -> None:  # noqa: ANN401
    if isinstance(part, list):
        for value in part:
            _name_languages(value, codes)
    if isinstance(part, dict):
        if part.get("required") and "target" in part.get("properties", {}):
            for name in LANGUAGE_FIELDS:
                # LibreTranslate's own word for a source that is to be detected.
                auto = ["auto"] if name == "source" and "q" in part["properties"] else []
                _enter(part["properties"][name], [*codes, *auto])
        for value in part.values():
            _name_languages(value, codes)


def _enter(schema: dict[str, Any], codes: list[str]) -> None:
    if schema.get("type") == "string":
        schema["enum"] = codes
    for part in (*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())):
        _enter(part, codes)


@main.command()
@click.option("--url", required=True, help="The service.")
@click.option("--requests", default=100_000, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def mutate(url: str, requests: int, seed: int, as_json: bool) -> None:
    """Right requests with damage."""
    started = time.perf_counter()
    received = asyncio.run(_send_all(url, list(_requests(urlsplit(url).netloc, requests, seed))))
    statuses = Counter(received)
    closed = statuses.pop(0, 0)
    faults = sum(count for status, count in statuses.items() if status >= 500 and status != 503)
    figures = {
        "requests": requests,
        "statuses": {str(status): count for status, count in sorted(statuses.items())},
        "closed": closed,
        "faults": faults,
        "seconds": round(time.perf_counter() - started, 1),
    }
    click.echo(
        json.dumps(figures) if as_json else "\n".join(f"{name}: {value}" for name, value in figures.items())
    )
    sys.exit(1 if faults else 0)


def _requests(host: str, count: int, seed: int) -> Iterator[bytes]:
    chance = random.Random(seed)
    for _ in range(count):
        if chance.random() < 0.15:
            yield _damaged(f"GET {chance.choice(PATHS)} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode(), chance)
            continue
        path, kind, body = chance.choice(BODIES)
        body = _changed(body, chance) if kind == JSON and chance.random() < 0.6 else _damaged(body, chance)
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        )
        whole = head.encode() + b"Connection: close\r\n\r\n" + body
        yield whole if chance.random() < 0.8 else _damaged(whole, chance)


def _changed(given: bytes, chance: random.Random) -> bytes:
    """The same JSON with one of its values another, removed, or put into a list."""
    body = json.loads(given)
    name = chance.choice(list(body))
    match chance.randrange(4):
        case 0:
            body[name] = chance.choice(ODD_VALUES)
        case 1:
            del body[name]
        case 2:
            body[name] = [body[name], chance.choice(ODD_VALUES)]
        case _:
            body[chance.choice(("k", "x", "min_confidence", "source", "api_key"))] = chance.choice(ODD_VALUES)
    return json.dumps(body, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")


def _damaged(given: bytes, chance: random.Random) -> bytes:
    """One to three times: a byte flipped, a part removed or doubled, something odd put in."""
    damaged = bytearray(given)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(damaged) + 1)
        end = min(len(damaged), at + chance.randint(1, 12))
        match chance.randrange(4):
            case 0 if at < len(damaged):
                damaged[at] ^= 1 << chance.randrange(8)
            case 1:
                del damaged[at:end]
            case 2:
                damaged[at:at] = damaged[at:end] * chance.choice((1, 2, 300))
            case _:
                damaged[at:at] = chance.choice(ODD_BYTES)
    return bytes(damaged)


async def _send_all(url: str, requests: list[bytes]) -> list[int]:
    """The status that each request gets; 0 where the connection is closed without one."""
    place = urlsplit(url)
    waiting = iter(requests)
    received: list[int] = []

    async def work() -> None:
        for request in waiting:
            received.append(await _send(place.hostname or "", place.port or 80, request))

    await asyncio.gather(*(work() for _ in range(CONNECTIONS)))
    return received


async def _send(host: str, port: int, request: bytes) -> int:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(request)
        writer.write_eof()  # a request that lacks an end is over all the same
        line = await asyncio.wait_for(reader.readline(), ANSWER_TIMEOUT)
        return int(line.split()[1]) if line.startswith(b"HTTP/1.1 ") else 0
    except TimeoutError:
        return TOO_LATE
    except (ConnectionError, IndexError, ValueError):
        return 0
    finally:
        writer.close()


if __name__ == "__main__":
    main()
