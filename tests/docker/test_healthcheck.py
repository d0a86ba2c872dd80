"""docker/healthcheck.py against a real server."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest


class Ready(BaseHTTPRequestHandler):
    """Answers /health/ready with the status of its server, everything else with 404."""

    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/health/ready" else 404)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    with HTTPServer(("127.0.0.1", 0), type("Now", (Ready,), {})) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def run(root: Path, port: int, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", root / "docker/healthcheck.py"],
        env={**os.environ, "PASSEPARTOUT_PORT": str(port), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


def test_a_service_that_is_ready_is_healthy(root: Path, server: HTTPServer) -> None:
    assert run(root, server.server_port).returncode == 0


def test_a_service_that_is_not_ready_is_not(root: Path, server: HTTPServer) -> None:
    server.RequestHandlerClass.status = 503  # type: ignore[attr-defined]
    found = run(root, server.server_port)
    assert found.returncode == 1
    assert "503" in found.stderr
    assert "Traceback" not in found.stderr


def test_no_service_at_all_is_unhealthy(root: Path) -> None:
    with socket.socket() as probe:  # bound and not listening: nobody else answers there meanwhile
        probe.bind(("127.0.0.1", 0))
        assert run(root, probe.getsockname()[1]).returncode == 1


def test_a_proxy_is_not_asked(root: Path, server: HTTPServer) -> None:
    nowhere = "http://127.0.0.1:9"
    found = run(root, server.server_port, http_proxy=nowhere, HTTP_PROXY=nowhere, no_proxy="", NO_PROXY="")
    assert found.returncode == 0, found.stderr
