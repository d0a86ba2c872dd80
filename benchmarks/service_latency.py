"""How long a one-sentence request takes over HTTP on loopback, and what the server weighs.

Starts `passepartout serve` on an index, cache off, in a process of its own; one client with a kept-alive
connection asks for one sentence after another. Beside it, in the same run, the same server stack with an
endpoint that answers the same bytes and does nothing: the ratio is what translating costs.

    python -m benchmarks.service_latency --index INDEX --queries FILE --source en --target de [--json]
"""

import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from benchmarks.servers import BARE, asks_an_index, connected, empty, memory, questions, serving

WARM_UP = 50  # requests that are not counted
TURN = 100  # requests to one server before the other's turn, so that both meet the same machine


@dataclass(frozen=True)
class Times:
    """Of one endpoint's requests, in milliseconds."""

    median: float
    p95: float
    p99: float
    requests: int


@dataclass(frozen=True)
class Result:
    """`ratio` is the translating median over that of the empty endpoint; `ready` the seconds until the
    service was; memory in MB (10^6 bytes)."""

    translate: Times
    empty: Times
    ratio: float
    ready: float
    resident_mb: float
    peak_mb: float


@asks_an_index
@click.command()
@click.option(
    "--requests", default=2000, show_default=True, help="Requests counted; a line of the queries each."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def main(index: Path, queries: Path, source: str, target: str, requests: int, as_json: bool) -> None:
    """Median and tail latency of one-sentence requests, and the server's resident memory."""
    bodies, wanted = questions(queries, source, target), requests + WARM_UP
    if len(bodies) < wanted:
        raise click.ClickException(
            f"{queries} has {len(bodies)} distinct lines, {wanted} are needed: lower --requests"
        )
    result = measure(index, bodies[:wanted])
    click.echo(json.dumps(asdict(result), indent=2) if as_json else table(result))


def measure(index: Path, bodies: Sequence[bytes]) -> Result:
    """Ask both servers in turns."""
    began = time.monotonic()
    with serving(index) as (port, process), connected(port) as ask:
        ready = time.monotonic() - began
        with empty(ask(bodies[0])) as empty_port, connected(empty_port, BARE) as ask_empty:
            times_of_both: tuple[list[float], list[float]] = ([], [])
            for start in range(0, len(bodies), TURN):
                for asking, times in zip((ask, ask_empty), times_of_both, strict=True):
                    times += [timed(asking, body) for body in bodies[start : start + TURN]]
        resident = memory(process.pid)
    translate, nothing = (summary(times[WARM_UP:]) for times in times_of_both)
    return Result(translate, nothing, translate.median / nothing.median, ready, *resident)


def summary(times: Sequence[float]) -> Times:
    cuts = statistics.quantiles(times, n=100)
    return Times(statistics.median(times), cuts[94], cuts[98], len(times))


def timed(ask: Callable[[bytes], bytes], body: bytes) -> float:
    start = time.perf_counter()
    ask(body)
    return (time.perf_counter() - start) * 1000


def table(result: Result) -> str:
    rows = [("translate", result.translate), ("empty", result.empty)]
    head = f"{'':<12}{'median':>10}{'p95':>10}{'p99':>10}   of {result.translate.requests} requests, ms"
    body = [f"{name:<12}{times.median:>10.2f}{times.p95:>10.2f}{times.p99:>10.2f}" for name, times in rows]
    ratio = f"{'ratio':<12}{result.ratio:>10.1f}"
    memory = f"resident {result.resident_mb:.0f} MB, peak {result.peak_mb:.0f} MB"
    return "\n".join([head, *body, ratio, f"ready after {result.ready:.1f} s; {memory}"])


if __name__ == "__main__":
    main()
