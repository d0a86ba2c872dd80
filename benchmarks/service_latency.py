"""How long a one-sentence request takes over HTTP on loopback, and what the server weighs.

Starts `passepartout serve` on an index, cache off, in a process of its own; one client with a kept-alive
connection asks for one sentence after another. Beside it, in the same run, the same server stack with an
endpoint that answers the same bytes and does nothing: the ratio is what translating costs.

    python -m benchmarks.service_latency --index INDEX --queries FILE --source en --target de [--json]
"""

import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import click

WARM_UP = 50  # requests that are not counted
NO_OP = """
import json, os
import uvicorn
from fastapi import FastAPI, Request, Response

answer = os.environ["ANSWER"].encode()
app = FastAPI()

@app.post("/translate/sentence")
async def no_op(request: Request) -> Response:
    json.loads(await request.body())
    return Response(answer, media_type="application/json")

@app.get("/health/ready")
async def ready() -> Response:
    return Response()

uvicorn.run(app, port=int(os.environ["PORT"]), access_log=False, log_level="warning")
"""


@dataclass(frozen=True)
class Times:
    """Of one endpoint's requests, in milliseconds."""

    median: float
    p95: float
    p99: float
    requests: int


@dataclass(frozen=True)
class Result:
    """`ratio` is the translating median over that of the no-op; memory in MB (10^6 bytes)."""

    translate: Times
    no_op: Times
    ratio: float
    resident_mb: float
    peak_mb: float


@click.command()
@click.option("--index", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--queries", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True)
@click.option("--source", required=True, help="Language of the queries.")
@click.option("--target", required=True, help="Language to translate into.")
@click.option(
    "--requests", default=2000, show_default=True, help="Requests counted; a line of the queries each."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def main(index: Path, queries: Path, source: str, target: str, requests: int, as_json: bool) -> None:
    """Median and tail latency of one-sentence requests, and the server's resident memory."""
    lines = list(dict.fromkeys(filter(None, map(str.strip, queries.read_text("utf-8").splitlines()))))
    wanted = requests + WARM_UP
    if len(lines) < wanted:
        raise click.ClickException(
            f"{queries} has {len(lines)} distinct lines, {wanted} are needed: lower --requests"
        )
    bodies = [
        json.dumps({"text": line, "source": source, "target": target, "min_confidence": 0}).encode()
        for line in lines[:wanted]
    ]
    result = measure(index, bodies)
    click.echo(json.dumps(asdict(result), indent=2) if as_json else table(result))


def measure(index: Path, bodies: Sequence[bytes]) -> Result:
    """Ask the translating server and the no-op in turns of 100, so that both meet the same machine."""
    with translating(index) as (port, process), connected(port) as ask:
        with no_op(ask(bodies[0])) as other_port, connected(other_port) as ask_no_op:
            times_of_both: tuple[list[float], list[float]] = ([], [])
            for start in range(0, len(bodies), 100):
                for asking, times in zip((ask, ask_no_op), times_of_both, strict=True):
                    times += [timed(asking, body) for body in bodies[start : start + 100]]
        memory = resident(process.pid)
    translate, nothing = (summary(times[WARM_UP:]) for times in times_of_both)
    return Result(translate, nothing, translate.median / nothing.median, *memory)


def summary(times: Sequence[float]) -> Times:
    cuts = statistics.quantiles(times, n=100)
    return Times(statistics.median(times), cuts[94], cuts[98], len(times))


def timed(ask: Callable[[bytes], bytes], body: bytes) -> float:
    start = time.perf_counter()
    ask(body)
    return (time.perf_counter() - start) * 1000


@contextmanager
def translating(index: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    port = free_port()
    command = [sys.executable, "-m", "passepartout", "serve", "--index", str(index), "--port", str(port)]
    environment = {"PASSEPARTOUT_CACHE_BYTES": "0", "PASSEPARTOUT_LOG_LEVEL": "warning"}
    with running(command, environment, port) as process:
        yield port, process


@contextmanager
def no_op(answer: bytes) -> Iterator[int]:
    port = free_port()
    with running([sys.executable, "-c", NO_OP], {"PORT": str(port), "ANSWER": answer.decode()}, port):
        yield port


@contextmanager
def running(
    command: Sequence[str], environment: dict[str, str], port: int
) -> Iterator[subprocess.Popen[bytes]]:
    """A server process, once it is ready; stopped afterwards."""
    process = subprocess.Popen(command, env=os.environ | environment)
    try:
        wait_until_ready(process, port)
        yield process
    finally:
        process.terminate()
        process.wait()


def wait_until_ready(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise click.ClickException(f"the server ended with exit code {process.returncode}")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/health/ready")
            if connection.getresponse().status == http.client.OK:
                return
        except OSError:
            time.sleep(0.05)
        finally:
            connection.close()
    raise click.ClickException("the server was not ready within 120 s")


@contextmanager
def connected(port: int) -> Iterator[Callable[[bytes], bytes]]:
    """A function that sends a body over one kept-alive connection and returns the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(body: bytes) -> bytes:
        connection.request("POST", "/translate/sentence", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = response.read()
        if response.status != http.client.OK:
            raise click.ClickException(f"the server answered {response.status}: {answer[:200]!r}")
        return answer

    try:
        yield ask
    finally:
        connection.close()


def resident(process: int) -> tuple[float, float]:
    """Resident memory of a process and its peak, in MB, from /proc."""
    lines = Path(f"/proc/{process}/status").read_text("ascii").splitlines()
    fields = {line.partition(":")[0]: line.partition(":")[2] for line in lines}
    now, peak = (int(fields[name].split()[0]) * 1024 / 1e6 for name in ("VmRSS", "VmHWM"))
    return now, peak


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def table(result: Result) -> str:
    rows = [("translate", result.translate), ("no-op", result.no_op)]
    head = f"{'':<12}{'median':>10}{'p95':>10}{'p99':>10}   of {result.translate.requests} requests, ms"
    body = [f"{name:<12}{times.median:>10.2f}{times.p95:>10.2f}{times.p99:>10.2f}" for name, times in rows]
    memory = f"resident {result.resident_mb:.0f} MB, peak {result.peak_mb:.0f} MB"
    return "\n".join([head, *body, f"{'ratio':<12}{result.ratio:>10.1f}", memory])


if __name__ == "__main__":
    main()
