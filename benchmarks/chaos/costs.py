"""Requests within the limits that cost as much as they can, and what they do to others."""

import asyncio
import http.client
import json
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.chaos.stage import Server, Stage, build, expect, scenes, serving, succeed

MEGABYTE = 1_048_576  # the longest body that is read
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=b"
SENTENCE, TRANSLATE, JOBS = "/translate/sentence", "/translate", "/admin/jobs"
PART = b'--b\r\nContent-Disposition: form-data; name="q"\r\n\r\n'
END = b"\r\n--b--\r\n"
HELD = 0.5  # seconds for a health check beside them: the machine is shared, and the request itself is read
GROWN = 50  # megabytes


@dataclass(frozen=True)
class Costly:
    """A request that is refused, or answered, and may cost little."""

    name: str
    path: str
    body: bytes
    content_type: str = JSON


def costly_requests() -> Iterator[Costly]:
    """For each schema the documents that cost most under the limits."""
    for path, field in (
        (SENTENCE, b"text"),
        ("/translate/word", b"word"),
        (TRANSLATE, b"q"),
        ("/detect", b"q"),
    ):
        name = f"{path}: {field.decode()}"
        for value in (b"1", b'""', b"[]", b'{"a":{}}', b"[" * 99 + b"]" * 99):
            yield Costly(f"{name} of {value[:8].decode()}", path, filled(b'{"%b":[' % field, value, b"]}"))
        yield Costly(f"{name}, unknown fields", path, b"{%b}" % fields(80_000))
        yield Costly(f"{name}, as many as are read", path, filled(b'{"%b":[' % field, b"1", b"]}", 1200))
        yield Costly(f"{name}, as many fields as are read", path, b"{%b}" % fields(600))
        yield Costly(f"{name}, nested", path, b"[" * MEGABYTE)
        yield Costly(f"{name}, a long text", path, filled(b'{"%b":"' % field, b"\\n", b'"}', joint=b""))
        yield Costly(f"{name}, a long number", path, b'{"%b":"a","k":%b}' % (field, b"9" * 4200))
        yield Costly(f"{name}, a longer number", path, b'{"%b":"a","k":0.%b}' % (field, b"9" * 1_000_000))
    yield Costly("targets", SENTENCE, filled(b'{"text":"a","target":[', b"1", b"]}"))
    yield Costly("a long target", SENTENCE, filled(b'{"text":"a","target":"', b"a", b'"}', joint=b""))
    marks = "".join(mark * 100 for mark in "\u0345\u035c\u0301\u0302\u059a\u0316\u031b\u0321\u0334\u0327")
    yield Costly("combining marks", SENTENCE, translation("text", [marks] * 256))
    yield Costly("invisible characters", SENTENCE, translation("text", ["\u200e" * 1000] * 256))
    yield Costly("no language", SENTENCE, json.dumps({"text": ["1 2 3"] * 256, "target": "de"}).encode())
    texts = [f"{number} dogs run on the beach." for number in range(256)]
    yield Costly("most answers", SENTENCE, translation("text", texts, k=11))
    yield Costly("most answers, again", SENTENCE, translation("text", texts, k=11))
    for markup in ("<a ", "<b>x", "&a;&", "<!--", "<a b=c d=e ", "<", "</", "<a \"'", "&#1"):
        bodies = [(markup * 1000)[:1000]] * 256
        yield Costly(f"markup of {markup}", TRANSLATE, translation("q", bodies, format="html"))
    yield Costly(
        "a form of escapes", TRANSLATE, filled(b"q=", b"%41", b"&source=en&target=de", 131_000, b""), FORM
    )
    yield Costly("a long form of escapes", TRANSLATE, filled(b"q=", b"%41", b"", joint=b""), FORM)
    yield Costly("a form of fields", TRANSLATE, b"&" * 131_000, FORM)
    for value in (b"a", b"\r", b"\r\n", b"\r\n--a"):
        body = filled(PART, value, END, joint=b"")
        yield Costly(f"a part of {value!r}", TRANSLATE, body, MULTIPART)
    yield Costly("many parts", TRANSLATE, filled(b"", PART + b"a\r\n", END, joint=b""), MULTIPART)
    yield Costly(
        "many heads", TRANSLATE, filled(b"--b\r\n", b"a:b\r\n", b"\r\nx" + END, joint=b""), MULTIPART
    )


def costly_jobs() -> Iterator[Costly]:
    """The same for those who have an admin's key."""
    add = b'{"action":"add","sentences":['
    for value in (b"1", b"{}", b'{"id":"xx:1","text":"a"}'):
        yield Costly(f"sentences of {value.decode()}", JOBS, filled(add, value, b"]}"))
        yield Costly(f"few sentences of {value.decode()}", JOBS, filled(add, value, b"]}", 50_000))
    yield Costly("fields of a job", JOBS, b'{"action":"add",%b}' % fields(59_000))
    yield Costly("fields of a sentence", JOBS, add + b"{%b}]}" % fields(59_000))
    yield Costly("ids", JOBS, filled(b'{"action":"delete","ids":[', b"1", b"]}"))
    yield Costly("few ids", JOBS, filled(b'{"action":"delete","ids":[', b"1", b"]}", 110_000))
    sentence = b'{"id":"%b:%d","text":"a","metadata":{"a":1,"b":[2]},"group":"g"}'
    for code in (b"de", b"xx"):
        sentences = b",".join(sentence % (code, number) for number in range(5_000))
        yield Costly(f"most sentences of {code.decode()}", JOBS, add + sentences + b"]}")
    metadata = add + b'{"id":"de:x","text":"a","metadata":{%b}}]}'
    yield Costly("metadata", JOBS, metadata % fields(59_000))
    nested = filled(b'"a":[', b"[" * 19 + b"]" * 19, b"]", 100_000)
    yield Costly("nested metadata", JOBS, metadata % nested)


def filled(head: bytes, value: bytes, tail: bytes, length: int = MEGABYTE, joint: bytes = b",") -> bytes:
    """A body of as many values as fit into so many bytes."""
    number = (length - len(head) - len(tail)) // (len(value) + len(joint))
    return head + joint.join([value] * number) + tail


def fields(number: int) -> bytes:
    return b",".join(b'"%x":1' % name for name in range(number))


def translation(field: str, texts: list[str], **options: object) -> bytes:
    body = {field: texts, "source": "en", "target": "de", **options}
    return json.dumps(body, ensure_ascii=False).encode()


def costly(stage: Stage) -> str:
    """Each of them, while others ask whether the service lives."""
    requests = list(costly_requests())
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
        connection.request("POST", request.path, request.body, {"Content-Type": request.content_type})
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
