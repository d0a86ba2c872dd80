"""What could be read in two ways is refused: paths with control characters, upgrades with a body."""

import re
import socket

import pytest
from starlette.testclient import TestClient

INNER = b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize("path", ["/metrics", "/health/live", "/languages", "/admin/jobs", "/nothing", "/"])
@pytest.mark.parametrize("character", ["%0a", "%0A", "%00", "%09", "%0d%0a", "%7f", "%1b", "%c2%85"])
def test_a_path_with_control_characters_is_refused(client: TestClient, path: str, character: str) -> None:
    for spelled in (path + character, character + path, path[:2] + character + path[2:]):
        answer = client.get("/" + spelled.lstrip("/"))
        assert answer.status_code == 400
        assert answer.json()["type"] == "/problems/bad-request"


def statuses(address: str, data: bytes) -> list[int]:
    """Of all answers to what is sent, until the server closes."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(data)
        answers = b"".join(iter(lambda: connection.recv(65536), b""))
    return [int(status) for status in re.findall(rb"^HTTP/1\.1 (\d+) ", answers, re.M)]


@pytest.mark.parametrize("protocol", [b"websocket", b"h2c", b"x"])
@pytest.mark.parametrize(
    "framing", [b"Content-Length: %d\r\n\r\n" % len(INNER), b"Transfer-Encoding: chunked\r\n\r\n"]
)
@pytest.mark.parametrize("connection", [b"Upgrade", b"keep-alive, upgrade", b"Upgrade, HTTP2-Settings"])
def test_a_body_behind_an_upgrade_is_never_a_request(
    address: str, protocol: bytes, framing: bytes, connection: bytes
) -> None:
    head = b"POST /translate/sentence HTTP/1.1\r\nHost: x\r\nConnection: %b\r\nUpgrade: %b\r\n"
    assert statuses(address, head % (connection, protocol) + framing + INNER * 3) == [400]


def test_what_follows_connect_is_never_a_request(address: str) -> None:
    head = b"CONNECT /health/live HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(INNER)
    assert statuses(address, head + INNER) == [400]
    assert statuses(address, head.replace(b"/health/live", b"x:80") + INNER) == [400]


def test_an_upgrade_without_a_body_is_ignored(address: str) -> None:
    head = b"GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n"
    assert statuses(address, head) == [200]


@pytest.mark.parametrize("path", ["/health/live", "/concordance", "/style.css", "/nothing"])
def test_a_query_of_too_many_options_is_refused(client: TestClient, path: str) -> None:
    most = client.app.state.settings.max_values  # type: ignore[attr-defined]
    assert client.get(f"{path}?{'&' * most}").status_code == 400
    assert client.get(f"{path}?{'&' * (most - 1)}").status_code != 400
