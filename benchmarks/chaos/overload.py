"""Ten times as many clients as the service admits, each asking again as soon as it is answered or may."""

import asyncio
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.chaos.stage import Server, Stage, expect, serving

ADMITTED = 32  # requests at a time, set for the service


@dataclass
class Load:
    """What a crowd of clients met."""

    seconds: float
    patient: bool
    statuses: Counter[int] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)  # of answers with 200, seconds
    without_advice: int = 0  # 503 that do not say when to come back
    broken: int = 0  # connections that ended without an answer

    @property
    def rate(self) -> float:
        return len(self.times) / self.seconds


def requests(stage: Stage) -> Iterator[bytes]:
    """Endless one-sentence requests, each another text, so that no cache can help."""
    number = 0
    texts = list(stage.answers)
    while True:
        number += 1
        text = f"{texts[number % len(texts)]} {number}"
        body = json.dumps({"text": text, "source": "en", "target": "de", "min_confidence": 0}).encode()
        head = f"POST /translate/sentence HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
        yield f"{head}Content-Type: application/json\r\n\r\n".encode() + body


def crowd(server: Server, stage: Stage, clients: int, seconds: float, patient: bool) -> Load:
    """What `clients` meet that come back as Retry-After says, or else at once."""
    load = Load(seconds, patient)
    asyncio.run(_crowd(server.port, requests(stage), clients, load))
    return load


async def _crowd(port: int, bodies: Iterator[bytes], clients: int, load: Load) -> None:
    until = time.monotonic() + load.seconds
    await asyncio.gather(*(_client(port, bodies, until, load) for _ in range(clients)))


async def _client(port: int, bodies: Iterator[bytes], until: float, load: Load) -> None:
    while time.monotonic() < until:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            load.broken += 1
            await asyncio.sleep(0.1)
            continue
        try:
            while time.monotonic() < until:
                await _ask(reader, writer, next(bodies), load)
        except (OSError, asyncio.IncompleteReadError):
            load.broken += 1
        finally:
            writer.close()


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes, load: Load) -> None:
    begun = time.monotonic()
    writer.write(body)
    head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)).decode("latin-1").lower()
    status = int(head.split(" ", 2)[1])
    length = int(head.partition("content-length:")[2].partition("\r\n")[0])
    await reader.readexactly(length)
    load.statuses[status] += 1
    if status == 200:
        load.times.append(time.monotonic() - begun)
    elif "retry-after:" not in head:
        load.without_advice += 1
    elif load.patient:
        await asyncio.sleep(float(head.partition("retry-after:")[2].partition("\r\n")[0]))
    if "connection: close" in head:
        raise ConnectionResetError


def patient(stage: Stage) -> str:
    alone, load, rest = _overload(stage, patient=True)
    expect(load.rate > alone.rate / 2, f"{load.rate:.0f} answers/s in place of {alone.rate:.0f}/s: {rest}")
    return rest


def impatient(stage: Stage) -> str:
    return _overload(stage, patient=False)[2]


def _overload(stage: Stage, patient: bool) -> tuple[Load, Load, str]:
    """The load without and with overload, and what is to be said of it."""
    settings = {"PASSEPARTOUT_MAX_WAITING": str(ADMITTED), "PASSEPARTOUT_CACHE_BYTES": "0"}
    seconds = 3.0 if stage.small else 20.0
    with serving(stage.index, **settings) as server:
        alone = crowd(server, stage, ADMITTED // 2, seconds / 2, patient)
        before = server.resident()
        load = crowd(server, stage, 10 * ADMITTED, seconds, patient)
        grown = server.resident() - before
        slowest = server.check(stage)
    others = {status: n for status, n in load.statuses.items() if status not in (200, 503)}
    expect(not others, f"other statuses: {others}")
    expect(load.without_advice == 0, f"{load.without_advice} refusals without Retry-After")
    expect(len(load.times) > 1, f"no answers: {dict(load.statuses)}")
    expect(grown < 100, f"memory grew by {grown:.0f} MB")
    expect(slowest < 1.5, f"after it an answer took {slowest:.1f} s")
    p99 = statistics.quantiles(load.times, n=100)[98]
    return (
        alone,
        load,
        f"{load.rate:.0f} answers/s ({alone.rate:.0f}/s with {ADMITTED // 2} clients), "
        f"99 % of them within {p99:.2f} s, {load.statuses[503] / seconds:.0f} refusals/s, "
        f"{load.broken} connections lost, {grown:+.0f} MB; after it the slowest took {slowest * 1000:.0f} ms",
    )
