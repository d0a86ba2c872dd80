"""Clients without a key that send, through the shipped proxy, what once took the service from everybody."""

import contextlib
import http.client
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable

from benchmarks.chaos.nginx import reverse_proxy
from benchmarks.chaos.stage import Stage, expect, serving

SECONDS = 20.0  # that each attack takes
HEAD = b"POST /translate/sentence HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
ANSWER_BYTES = 12  # "HTTP/1.1 413"


def long_body(length: int = 2_000_000) -> bytes:
    return HEAD + b"Content-Length: %d\r\n\r\n" % length + b" " * length


def many_headers() -> bytes:
    headers = b"".join(b"X-Header-%d: a\r\n" % number for number in range(101))
    return long_body(900_000).replace(b"Host: x\r\n", b"Host: x\r\n" + headers, 1)


def unknown_method() -> bytes:
    return long_body(900_000).replace(b"POST", b"FOO", 1)


def attack(request: Callable[[], bytes]) -> Callable[[Stage], str]:
    """What comes of such requests, 3 at a time and without a pause."""
    return lambda stage: _attacked(stage, request())


def _attacked(stage: Stage, request: bytes) -> str:
    stop, refusals = threading.Event(), Counter[str]()
    with (
        serving(stage.index) as one,
        serving(stage.index) as two,
        reverse_proxy(stage.folder / "nginx", one.port, two.port) as port,
    ):
        attackers = [threading.Thread(target=_send, args=(port, request, stop, refusals)) for _ in range(3)]
        for attacker in attackers:
            attacker.start()
        others: Counter[int] = Counter()
        slowest, until = 0.0, time.monotonic() + (2.0 if stage.small else SECONDS)
        while time.monotonic() < until:
            for text in stage.answers:
                status, _, seconds = one.ask(text, port=port)
                others[status] += 1
                slowest = max(slowest, seconds)
        stop.set()
        for attacker in attackers:
            attacker.join()
    expect(set(others) == {http.client.OK}, f"others got {dict(others)}")
    expect(sum(refusals.values()) > 0, "nothing was sent")
    answers = ", ".join(f"{count} × {status}" for status, count in sorted(refusals.items()))
    return (
        f"0 of {others.total()} answers to others failed, the slowest took {slowest * 1000:.0f} ms; "
        f"the attackers got {answers}"
    )


def _send(port: int, request: bytes, stop: threading.Event, refusals: Counter[str]) -> None:
    while not stop.is_set():
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", port), timeout=10) as connection,
        ):
            with contextlib.suppress(OSError):  # refused before its end
                connection.sendall(request)
            refusals[connection.recv(ANSWER_BYTES)[9:].decode() or "nothing"] += 1
