"""A load generator: HTTP/1.1 requests over kept-alive connections, as fast as they are answered or at a rate.

One asyncio protocol a connection, nothing parsed but status and length: about 25 µs of CPU a request.
"""

import asyncio
import statistics
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

import uvloop


@dataclass
class Seen:
    """What the clients saw: seconds of each answer by status, from when it was due; faults by name."""

    seconds: dict[int, list[float]] = field(default_factory=dict)
    faults: Counter[str] = field(default_factory=Counter)
    elapsed: float = 0.0

    def answered(self, status: int = 200) -> int:
        return len(self.seconds.get(status, []))

    def rate(self) -> float:
        """Answers with 200 a second."""
        return self.answered() / self.elapsed

    def percentile(self, percent: int, status: int = 200) -> float:
        """In milliseconds."""
        times = self.seconds.get(status, [])
        return 1000 * statistics.quantiles(times, n=100)[percent - 1] if len(times) > 1 else float("nan")


# The number of a request, head and body of its answer -> what is wrong with it.
Check = Callable[[int, bytes, bytes], str | None]


class Client(asyncio.Protocol):
    """One connection with at most one request at a time."""

    def __init__(self, load: "Load") -> None:
        self.load, self.buffer, self.due, self.number = load, bytearray(), 0.0, 0
        self.waits = False
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.load.free(self)

    def send(self, due: float, number: int) -> None:
        self.due, self.number, self.waits = due, number, True
        self.transport.write(self.load.requests[number % len(self.load.requests)])

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n") + 4
        if end < 4:
            return
        place = self.buffer.find(b"content-length: ", 0, end) + 16
        length = int(self.buffer[place : self.buffer.find(b"\r", place)])
        if len(self.buffer) >= end + length:
            head, body = bytes(self.buffer[:end]), bytes(self.buffer[end : end + length])
            self.buffer.clear()
            if not self.waits:  # a connection that was not used for long is told so, and closed
                return
            self.waits = False
            self.load.note(self, int(head[9:12]), head, body)

    def connection_lost(self, exc: Exception | None) -> None:
        self.load.lost(self)


class Load:
    """`requests` in turn over `connections`: each when the one before is answered, or `rate` a second."""

    def __init__(
        self,
        port: int,
        requests: Sequence[bytes],
        connections: int,
        rate: float | None = None,
        check: Check | None = None,
    ) -> None:
        self.port, self.requests, self.connections = port, requests, connections
        self.rate, self.check = rate, check
        self.seen = Seen()
        self._idle: list[Client] = []
        self._due: deque[float] = deque()
        self._sent = 0
        self._running = True
        self._busy = 0
        self._clients: set[Client] = set()

    async def run(self, seconds: float, until: Callable[[], bool] = lambda: False) -> Seen:
        """For so many seconds, or until something is so."""
        loop = asyncio.get_running_loop()
        for _ in range(self.connections):
            client = (await loop.create_connection(lambda: Client(self), "127.0.0.1", self.port))[1]
            self._clients.add(client)
        started = time.perf_counter()
        if self.rate is not None:
            await self._pace(started, seconds)
        else:
            while time.perf_counter() < started + seconds and not until():
                await asyncio.sleep(0.05)
        self._running = False
        self.seen.elapsed = time.perf_counter() - started
        for _ in range(1000):
            if not self._busy:
                break
            await asyncio.sleep(0.01)
        self.seen.faults["never answered"] += self._busy
        for client in self._clients:
            client.transport.close()
        return self.seen

    def free(self, client: Client) -> None:
        if self.rate is None:
            if self._running:
                self._send(client, time.perf_counter())
        elif self._due:
            self._send(client, self._due.popleft())
        else:
            self._idle.append(client)

    def note(self, client: Client, status: int, head: bytes, body: bytes) -> None:
        self._busy -= 1
        self.seen.seconds.setdefault(status, []).append(time.perf_counter() - client.due)
        if (
            self.check is not None
            and status == 200
            and (fault := self.check(client.number % len(self.requests), head, body))
        ):
            self.seen.faults[fault] += 1
        self.free(client)

    def lost(self, client: Client) -> None:
        if client in self._idle:
            self._idle.remove(client)
        elif self._running and client.waits:
            self._busy -= 1
            self.seen.faults["connection lost"] += 1

    async def _pace(self, started: float, seconds: float) -> None:
        """Evenly spaced; what finds no free connection waits for one, and that counts as its time."""
        assert self.rate is not None
        count = 0
        while (now := time.perf_counter()) < started + seconds:
            while (due := started + count / self.rate) <= now:
                count += 1
                while self._idle and self._idle[-1].transport.is_closing():
                    self._idle.pop()
                if self._idle:
                    self._send(self._idle.pop(), due)
                else:
                    self._due.append(due)
            await asyncio.sleep(0.001)  # less would be none at all: uvloop counts milliseconds
        self._due.clear()

    def _send(self, client: Client, due: float) -> None:
        self._busy += 1
        self._sent += 1
        client.send(due, self._sent)


def post(path: str, body: bytes) -> bytes:
    """A request as it is sent."""
    head = f"POST {path} HTTP/1.1\r\nHost: load\r\nContent-Type: application/json\r\n"
    return head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body


def drive(load: Load, seconds: float, until: Callable[[], bool] = lambda: False) -> Seen:
    return uvloop.run(load.run(seconds, until))
