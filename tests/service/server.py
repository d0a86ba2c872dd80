"""A server process for tests: `passepartout serve` on a free port, and a request to it."""

import json
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.waiting import until

SERVE = [sys.executable, "-m", "passepartout", "serve"]


def free_port() -> int:
    """A port that nobody has, below those that clients are given: no other test's takes it meanwhile."""
    while True:
        port = random.randrange(20_000, 32_768)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@contextmanager
def serving(index: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server process and its address, once it is ready."""
    address = f"http://127.0.0.1:{(port := free_port())}"
    command = [*SERVE, "--index", str(index), "--port", str(port), *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    def is_ready() -> bool:
        if process.poll() is not None:
            pytest.fail(f"the server ended: {process.communicate()[1]}")
        try:
            with urlopen(f"{address}/health/ready", timeout=5):
                return True
        except OSError:
            return False

    try:
        until(is_ready, "the server is not ready")
        yield address, process
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


def translate(address: str) -> str:
    body = json.dumps({"text": "A small dog runs on the beach.", "source": "en", "target": "de"}).encode()
    request = Request(f"{address}/translate/sentence", body, {"Content-Type": "application/json"})
    with urlopen(request, timeout=10) as answer:
        text: str = json.load(answer)["results"][0]["translations"]["de"][0]["text"]
        return text
