"""docker/nginx.conf with a real nginx before real replicas: what one client sends harms no other."""

import contextlib
import http.client
import itertools
import json
import re
import socket
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pytest

from service import limits
from service.settings import Settings
from tests.docker.nginx import reverse_proxy
from tests.service.http.costly import TRANSLATE, Costly, costly_files, costly_requests, file_to_fill
from tests.service.http.test_costs import GROWN, kilobytes
from tests.service.server import serving

REQUEST = json.dumps({"text": "A small dog runs.", "source": "en", "target": "de"}).encode()
JSON = b"Content-Type: application/json\r\n"
MAX_BODY = limits.MAX_BODY_BYTES
ATTACKERS, OTHERS = 4, 20
ATTACKER = "127.0.0.2"  # another address than that of the others


def post(body: bytes = REQUEST, headers: bytes = JSON, path: bytes = b"/translate/sentence") -> bytes:
    head = b"POST %b HTTP/1.1\r\nHost: x\r\n%bContent-Length: %d\r\n\r\n" % (path, headers, len(body))
    return head + body


def content_type(request: Costly) -> bytes:
    return b"Content-Type: %b\r\n" % request.content_type.encode()


# What took both replicas from everybody: bodies that the service refused unread.
HOSTILE = {
    "long body": post(b" " * 2_000_000),
    "many headers": post(b" " * 500_000, JSON + b"".join(b"X-Header-%d: a\r\n" % n for n in range(101))),
    "unknown method": post(b" " * 500_000).replace(b"POST", b"FOO", 1),
    "long body in chunks": post(b"")
    .replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    + b"10000\r\n" + b" " * 0x10000 + b"\r\n" + b"200000\r\n" + b" " * 0x200000 + b"\r\n0\r\n\r\n",
    "upload without a key": post(b" " * 2_000_000, path=b"/admin/uploads?name=memory.tmx"),
    "job without a key": post(b" " * 500_000, path=b"/admin/jobs"),
    "control characters in a header": post(b" " * 500_000, JSON + b"X-Header: a\x01\x02\r\n"),
    "preflight with a body": post(b" " * 500_000).replace(b"POST", b"OPTIONS", 1),
    "an upgrade": post(b" " * 500_000, JSON + b"Connection: Upgrade\r\nUpgrade: h2c\r\n"),
    "an expectation": post(b" " * 2_000_000, JSON + b"Expect: 100-continue\r\n"),
    "HTTP/1.0": post(b" " * 500_000).replace(b"HTTP/1.1", b"HTTP/1.0", 1),
    "a long query": post(b" " * 500_000, path=b"/translate/sentence?" + b"q" * 7000),
    "less than was promised": post(b" " * 500_000)[:-100_000],
    "more than was promised": post(b" " * 500_000) + b" " * 100_000,
}  # fmt: skip
# What once held a replica up: a form decoded in quadratic time, part heads, files that grow.
COSTLY = (
    *("a form in punycode", "a file in punycode", f"{TRANSLATE}, heads of semicolons"),
    *("a file, lists.json", "a file, deep.json", "a file, as many as are read, texts.xliff"),
)


@pytest.fixture(scope="module")
def hostile() -> dict[str, bytes]:
    """Every hostile request by its name; the costly ones take seconds to make."""
    every = itertools.chain(costly_requests(), costly_files())
    wanted = itertools.islice((request for request in every if request.name in COSTLY), len(COSTLY))
    return HOSTILE | {
        request.name: post(request.body, content_type(request), request.path.encode()) for request in wanted
    }


def exchange(
    port: int, data: bytes, *, answers: int = 1, finish: bool = False, sender: str = "127.0.0.1"
) -> list[tuple[int, bytes]]:
    """Send all, then read at most so many answers: statuses and bodies, fewer where the connection ends."""
    with socket.create_connection(("127.0.0.1", port), timeout=20, source_address=(sender, 0)) as connection:
        with contextlib.suppress(ConnectionError):  # an answer may come before the end of the request
            connection.sendall(data)
        if finish:
            connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as file:
            return list(itertools.islice(read_answers(file), answers))


def read_answers(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    with contextlib.suppress(ConnectionError):
        while line := file.readline():
            headers = http.client.parse_headers(file)
            yield int(line.split()[1]), file.read(int(headers["Content-Length"]))


def statuses(port: int, data: bytes, *, answers: int = 1, finish: bool = False) -> list[int]:
    return [status for status, _ in exchange(port, data, answers=answers, finish=finish)]


def ask(port: int) -> int:
    """The status of a client that does as everybody should."""
    (status,) = statuses(port, post())
    return status


def answered(port: int, data: bytes) -> bytes:
    """All that comes back until the connection ends."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(data)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize("attack", [*HOSTILE, *COSTLY])
def test_others_are_answered_while_someone_sends(proxy: int, hostile: dict[str, bytes], attack: str) -> None:
    stop = threading.Event()

    def send() -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError):
                exchange(proxy, hostile[attack], finish=True, sender=ATTACKER)

    attackers = [threading.Thread(target=send) for _ in range(ATTACKERS)]
    for attacker in attackers:
        attacker.start()
    try:
        found = [ask(proxy) for _ in range(OTHERS)]
    finally:
        stop.set()
        for attacker in attackers:
            attacker.join()
    assert found == [200] * OTHERS


# What each sender gets. A header's control characters are left to uvicorn (SECURITY.md).
REFUSALS = {
    "long body": 413,
    "many headers": 400,
    "unknown method": 405,
    "long body in chunks": 413,
    "upload without a key": 401,
    "job without a key": 401,
    "preflight with a body": 405,
    "an upgrade": 400,
    "an expectation": 413,
    "HTTP/1.0": 400,
    "a long query": 400,
    "more than was promised": 400,
}


@pytest.mark.parametrize(("sent", "status"), REFUSALS.items())
def test_a_sender_gets_the_reason_for_a_refusal(proxy: int, sent: str, status: int) -> None:
    for _ in range(5):
        assert_problem(proxy, HOSTILE[sent], status)


def assert_problem(proxy: int, data: bytes, status: int) -> None:
    ((refusal, document),) = exchange(proxy, data)
    assert refusal == json.loads(document)["status"] == status


def test_what_the_proxy_refuses_is_a_problem_document(proxy: int) -> None:
    assert_problem(proxy, post(headers=JSON + b"X-Long: " + b"x" * 9000 + b"\r\n"), 431)
    assert_problem(proxy, post().replace(b"POST", b"PATCH"), 405)
    assert_problem(proxy, post(path=b"/metrics"), 404)


@pytest.mark.parametrize(
    "data",
    [
        post(path=b"/" + b"p" * 9000),
        post(headers=JSON + b"Content-Length: 1\r\n"),
        post(headers=JSON + b"Transfer-Encoding: chunked\r\n"),
        post(headers=JSON + b"Transfer-Encoding: x\r\n"),
        post().replace(b"Content-Length: ", b"Content-Length: +"),
        post(path=b"/\xc3\xa9"),
        post(path=b"/a%00b"),
        post(path=b"/a b"),
        b"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"TRACE / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
def test_what_two_servers_might_read_differently_goes_no_further(proxy: int, data: bytes) -> None:
    assert exchange(proxy, data)[0][0] in (400, 405, 414, 501)  # as the version of nginx has it


# Where a byte may stand in a request; the service's parser and nginx differ in what they take there.
PLACES = {
    "method": b"POST%b / HTTP/1.1\r\nHost: x\r\n",
    "path": b"POST /a%bb HTTP/1.1\r\nHost: x\r\n",
    "query": b"POST /languages?a%bb HTTP/1.1\r\nHost: x\r\n",
    "version": b"POST / HTTP/1.%b\r\nHost: x\r\n",
    "host": b"POST / HTTP/1.1\r\nHost: x%by\r\n",
    "header name": b"POST / HTTP/1.1\r\nHost: x\r\nX%bA: b\r\n",
}


@pytest.mark.parametrize("place", PLACES)
def test_what_the_services_parser_refuses_does_not_reach_it(proxy: int, place: str) -> None:
    """In a header's value it does (SECURITY.md)."""
    for byte in (*range(0x30), *range(0x3A, 0x41), *range(0x5B, 0x61), *range(0x7B, 0x84), 0xFF):
        data = PLACES[place] % bytes([byte]) + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}"
        answer = answered(proxy, data)
        assert not answer.startswith(b"HTTP/1.1 503"), data
        assert b"Invalid HTTP request" not in answer, data


def test_its_limits_are_those_of_the_service(root: Path) -> None:
    sizes = re.findall(r"client_max_body_size (\d+)([km]);", (root / "docker/nginx.conf").read_text("utf-8"))
    found = [int(size) << {"k": 10, "m": 20}[unit] for size, unit in sizes]
    assert found == [limits.MAX_BODY_BYTES, Settings().max_upload_bytes, limits.MAX_FILE_BYTES]


METRICS = r"""
/metrics /metrics? /metrics/ //metrics /metrics%0a /metrics%0A?x /metrics%09 /%6detrics
/./metrics /a/../metrics /a/%2e%2e/metrics /a%2f..%2fmetrics /metrics#a /metrics%00 /metrics%20
/metrics;a /METRICS /\metrics /metrics%c2%85 http://x/metrics /metrics%250a /metrics%e2%80%a8
"""


@pytest.mark.parametrize("path", [*METRICS.split(), "/metrics\t"])
def test_metrics_are_not_passed_on_however_they_are_spelled(proxy: int, path: str) -> None:
    for method in ("GET", "HEAD", "POST", "OPTIONS"):
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 127.0.0.1\r\nConnection: close\r\n\r\n"
        )
        answer = answered(proxy, head.encode())
        assert re.match(rb"HTTP/1.1 4\d\d ", answer)
        assert b"passepartout_" not in answer


ADMINS = r"""
/admin /admin/jobs //admin/jobs /admin//jobs /ADMIN/jobs /%61dmin/jobs /admin%2fjobs
/a/../admin/jobs /a%2f..%2fadmin/jobs /admin/jobs%0a /admin/jobs/ /admin/jobs;a /admin%00
/admin\jobs /admin/./jobs /.%2fadmin/jobs /admin/uploads /admin/uploads%0d /admin/sentences
"""


@pytest.mark.parametrize("path", ADMINS.split())
def test_nothing_of_the_admins_is_passed_on_without_a_key(proxy: int, path: str) -> None:
    for method in ("GET", "POST", "DELETE"):
        ((status, _),) = exchange(proxy, f"{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert status in (400, 401, 404, 405)


def test_an_upgrade_is_ignored_and_its_body_read(proxy: int) -> None:
    inner = post(b"", path=b"/admin/jobs")
    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
    assert statuses(proxy, post(inner, JSON + upgrade) + post(), answers=2) == [400, 200]
    ((status, document),) = exchange(proxy, post(headers=JSON + upgrade))
    assert status == 200
    assert "results" in json.loads(document)


def test_a_client_that_has_closed_its_own_direction_is_answered(proxy: int) -> None:
    for _ in range(10):
        assert statuses(proxy, post(), finish=True) == [200]


def test_a_request_before_an_invalid_one_is_answered(proxy: int) -> None:
    assert statuses(proxy, post() + b"\x00\r\n\r\n", answers=2) == [200, 400]
    assert statuses(proxy, post() + post().replace(b"POST", b"FOO"), answers=2) == [200, 405]


class Sluggish(threading.Thread):
    """A replica that takes a request and never answers."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.asked = 0
        self.held: list[socket.socket] = []
        self.start()

    def run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                if connection.recv(65536):
                    self.asked += 1
                self.held.append(connection)


def test_what_takes_too_long_is_asked_once(tmp_path: Path) -> None:
    """Else one request would take every replica's time, one after the other."""
    replicas = [Sluggish(), Sluggish()]
    with reverse_proxy(tmp_path, *(one.port for one in replicas), patience=1) as port:
        ((status, document),) = exchange(port, post())
    assert (status, json.loads(document)["type"]) == (503, "/problems/overloaded")
    assert sum(one.asked for one in replicas) == 1


def test_its_log_has_nothing_of_a_request(tmp_path: Path) -> None:
    """Nor a key that somebody put into an address."""
    with reverse_proxy(tmp_path, 9) as port:  # where nobody listens
        assert exchange(port, post(path=b"/translate/sentence?api_key=secret"))[0][0] == 503
        exchange(port, post(b"x" * (1 << 20), path=b"/translate?q=secret"))
    assert "secret" not in (tmp_path / "nginx.log").read_text("utf-8")


def test_bodies_that_never_end_take_their_senders_share_of_room_alone(
    index_dir: Path, tmp_path: Path
) -> None:
    """Of what does not arrive the service learns nothing; who is silent for 5 s is cut off."""
    file = file_to_fill("lines.txt", b"The dog sleeps.\n" * (limits.MAX_FILE_BYTES // 17))
    bodies = [post(file.body, content_type(file), b"/translate_file")[:-1]] * 20
    bodies += [post(b" " * MAX_BODY)[:-1]] * 60
    with serving(index_dir) as (address, process), contextlib.ExitStack() as stack:
        before = kilobytes("VmRSS", process.pid)
        port = stack.enter_context(reverse_proxy(tmp_path / "nginx", int(address.rpartition(":")[2])))
        connect = partial(socket.create_connection, ("127.0.0.1", port), 20, (ATTACKER, 0))
        begun = [stack.enter_context(connect()) for _ in bodies]
        senders = [threading.Thread(target=send_all, args=sent) for sent in zip(begun, bodies, strict=True)]
        for sender in senders:
            sender.start()
        found = [ask(port) for _ in range(OTHERS)]
        small = file_to_fill("lines.txt", b"The dog sleeps.\n" * 2000)
        found.append(exchange(port, post(small.body, content_type(small), b"/translate_file"))[0][0])
        for sender in senders:
            sender.join()
        arrived = sum(path.stat().st_size for path in (tmp_path / "nginx" / "body").rglob("*"))
        with contextlib.ExitStack() as files:
            answers = [
                next(read_answers(files.enter_context(connection.makefile("rb"))), (0, b""))[0]
                for connection in begun
            ]
        assert kilobytes("VmRSS", process.pid) - before < GROWN
    assert found == [200] * (OTHERS + 1)
    assert set(answers) <= {0, 408, 503}
    assert answers.count(408) <= 64
    assert answers[:20].count(503) >= 12
    assert arrived <= 64 << 20


def send_all(connection: socket.socket, body: bytes) -> None:
    with contextlib.suppress(OSError):
        connection.sendall(body)


def test_a_rate_counts_what_does_not_parse_and_what_has_no_key(index_dir: Path, tmp_path: Path) -> None:
    requests = [
        post(b"{"),
        post(path=b"/nowhere"),
        HOSTILE["job without a key"],
        post(b"=%", path=b"/detect"),
    ]
    with serving(index_dir) as (address, *_):
        service = int(address.rpartition(":")[2])
        with reverse_proxy(tmp_path / "nginx", service, limits_rates=True) as port:
            found = [exchange(port, request)[0][0] for request in requests * 10]
            ((status, document),) = exchange(port, post())
            assert exchange(port, post(), sender=ATTACKER)[0][0] == 200

    assert (status, json.loads(document)["title"]) == (429, "Too Many Requests")
    assert 429 not in found[:4]
    assert 429 in found
