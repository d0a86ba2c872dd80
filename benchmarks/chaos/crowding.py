"""Costly requests beside others: how long those wait, and what memory they take."""

import asyncio
import http.client
import json
import statistics
import threading
import time
from collections import Counter

from benchmarks.chaos.costs import JSON, SENTENCE, Costly, costly_files, costly_requests
from benchmarks.chaos.queries import costly_queries
from benchmarks.chaos.stage import Server, Stage, build, expect, scenes, serving, succeed

HELD = 0.5  # seconds for a health check beside them: the machine is shared, and the request itself is read
GROWN = 50  # megabytes


def costly(stage: Stage) -> str:
    """Each of them, while others ask whether the service lives."""
    requests = [*costly_requests(), *costly_queries(), *costly_files()]
    with serving(stage.index) as server:
        server.check(stage)
        slowest, grown = 0.0, 0.0
        for request in requests[:: 10 if stage.small else 1]:
            before = server.resident()
            with Watch(server) as watch:
                status = send(server, request)
            grown = max(grown, server.resident() - before)
            slowest = max(slowest, watch.slowest)
            expect(status < 500, f"{request.name}: status {status}")
            expect(watch.slowest < HELD, f"{request.name}: a health check took {watch.slowest:.2f} s")
        after = server.check(stage)
    expect(grown < GROWN, f"one added {grown:.0f} MB")
    return (
        f"{len(requests)} requests; the slowest health check beside one took {slowest * 1000:.0f} ms, "
        f"one added {grown:.0f} MB at most; after them the slowest answer took {after * 1000:.0f} ms"
    )


def send(server: Server, request: Costly) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        headers = {"Content-Type": request.content_type}
        connection.request(request.method, request.path, request.body, headers)
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


EXPLAINING, ASKING = 16, 4  # clients
TARGETS = ["de", "pt", "fr", "es"]
PAUSE = 0.02  # seconds between two questions of one of those that ask


def explaining(stage: Stage) -> str:
    """Clients that want all explained, in five languages, beside clients that ask for one translation."""
    index, corpora = stage.new("many-languages"), stage.corpora("five-languages")
    for language in TARGETS[1:]:
        lines = "".join(f"{line}\n" for line in scenes(language))
        (corpora / f"{language}.txt").write_text(lines, "utf-8")
    succeed(build(index, corpora))
    seconds = 3.0 if stage.small else 15.0
    with serving(index, PASSEPARTOUT_CACHE_BYTES="0") as server:
        asyncio.run(_ask_and_explain(server.port, stage, 0, 2.0))
        alone, _ = asyncio.run(_ask_and_explain(server.port, stage, 0, seconds))
        beside, statuses = asyncio.run(_ask_and_explain(server.port, stage, EXPLAINING, seconds))
    expect(statuses.keys() <= {200, 503}, f"explanations ended with {dict(statuses)}")
    expect(statuses[200] > 0, f"nothing was explained: {dict(statuses)}")
    p99, p99_alone = (statistics.quantiles(times, n=100)[98] for times in (beside, alone))
    report = (
        f"99 % within {1000 * p99:.1f} ms, {1000 * p99_alone:.1f} ms without them; median "
        f"{1000 * statistics.median(beside):.1f} ms, {1000 * statistics.median(alone):.1f} ms without; "
        f"{statuses[200] / seconds:.0f} explained/s, {statuses[503] / seconds:.0f} refused/s"
    )
    expect(p99 <= 2 * p99_alone, report)
    return report


async def _ask_and_explain(
    port: int, stage: Stage, explaining: int, seconds: float
) -> tuple[list[float], Counter[int]]:
    """Seconds of each plain answer, and how the requests with `explain` ended."""
    texts = list(stage.answers)
    times: list[float] = []
    statuses: Counter[int] = Counter()
    until = time.monotonic() + seconds

    async def ask(number: int) -> None:
        while time.monotonic() < until:
            number += ASKING
            body = {
                "text": f"{texts[number % len(texts)]} {number}",
                "source": "en",
                "target": "de",
                "min_confidence": 0,
            }
            begun = time.monotonic()
            expect(await _post(port, body) == 200, "a plain question was refused")
            times.append(time.monotonic() - begun)
            await asyncio.sleep(PAUSE)

    async def explain(number: int) -> None:
        while time.monotonic() < until:
            number += EXPLAINING
            text = f"{texts[number % len(texts)]} {number}"
            body = {"text": text, "source": "en", "target": TARGETS, "k": 16, "explain": True}
            status = await _post(port, body)
            statuses[status] += 1
            if status == 503:
                await asyncio.sleep(1)

    await asyncio.gather(*map(ask, range(ASKING)), *map(explain, range(explaining)))
    return times, statuses


async def _post(port: int, document: object) -> int:
    body = json.dumps(document).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST {SENTENCE} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n"
    writer.write(f"{head}Content-Type: {JSON}\r\n\r\n".encode() + body)
    status = int((await reader.read()).split(b" ", 2)[1])
    writer.close()
    return status


class Watch:
    """Asks for the health of a server, again and again, in a thread."""

    def __init__(self, server: Server) -> None:
        self.slowest = 0.0
        self._server = server
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        self._thread.join()

    def _ask(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=60)
        while not self._over.is_set():
            begun = time.monotonic()
            connection.request("GET", "/health/live")
            connection.getresponse().read()
            self.slowest = max(self.slowest, time.monotonic() - begun)
            time.sleep(0.001)
        connection.close()
