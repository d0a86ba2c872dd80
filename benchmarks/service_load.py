"""What the service bears: its answers a second beside those of an empty endpoint, asked by `wrk`.

    python -m benchmarks.service_load --index INDEX --queries FILE --source en --target de

Starts `passepartout serve` (cache off, one thread a worker) and an empty FastAPI endpoint with the same
request and response models and as many workers, and lets as many clients ask each in turn, several rounds, so
that both meet the same machine. `wrk` comes with Debian's package of that name.
"""

import json
import shutil
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple

import click

from benchmarks.servers import SENTENCE, asks_an_index, connected, empty, questions, serving

SCRIPT = Path(__file__).with_suffix(".lua")


class Load(NamedTuple):
    """What wrk saw: answers a second, milliseconds of an answer, and answers with a status of 400 or more."""

    rate: float
    p50: float
    p99: float
    refused: int


@asks_an_index
@click.command()
@click.option("--seconds", default=8, show_default=True, help="Of each measurement.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--clients", default=32, show_default=True)
@click.option("--workers", default=1, show_default=True, help="Of the service and of the empty endpoint.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON at the end.")
def main(
    index: Path,
    queries: Path,
    source: str,
    target: str,
    seconds: int,
    rounds: int,
    clients: int,
    workers: int,
    as_json: bool,
) -> None:
    """Answers a second of the service and of an empty endpoint, and the ratio of the two."""
    bodies = questions(queries, source, target)
    loads: list[tuple[Load, Load]] = []
    with serving(index, workers) as (port, _):
        with connected(port) as ask:
            answer = ask(bodies[0])
        with empty(answer, workers) as empty_port:
            for _ in range(rounds):
                service, nothing = (drive(one, bodies, clients, seconds) for one in (port, empty_port))
                loads.append((service, nothing))
                times = f"p50 {service.p50:.1f} ms, p99 {service.p99:.1f} ms, {service.refused} refused"
                share = service.rate / nothing.rate
                click.echo(f"service {service.rate:.0f}/s ({times}), empty {nothing.rate:.0f}/s: {share:.2f}")
    ratio = statistics.median(service.rate / nothing.rate for service, nothing in loads)
    click.echo(f"ratio {ratio:.2f}, median of {rounds} rounds, {clients} clients")
    if as_json:
        rows = {
            name: median(part)
            for name, part in zip(("service", "empty"), zip(*loads, strict=True), strict=True)
        }
        click.echo(json.dumps({**rows, "ratio": round(ratio, 3)}, indent=1))


def drive(port: int, bodies: Sequence[bytes], clients: int, seconds: float) -> Load:
    """Let `clients` ask one body after another over connections that they keep."""
    if shutil.which("wrk") is None:
        raise click.ClickException("wrk is not installed: apt-get install wrk")
    with NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(b"\n".join(bodies))
        file.flush()
        url = f"http://127.0.0.1:{port}{SENTENCE}"
        command = [
            "wrk",
            "-t1",
            f"-c{clients}",
            f"-d{round(seconds)}s",
            "-s",
            str(SCRIPT),
            url,
            "--",
            file.name,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(f"wrk ended with {done.returncode}: {done.stderr.strip()}")
    return Load(**json.loads(done.stdout.splitlines()[-1]))


def median(loads: Sequence[Load]) -> dict[str, float]:
    return {
        name: round(statistics.median(values), 3)
        for name, values in zip(Load._fields, zip(*loads, strict=True), strict=True)
    }


if __name__ == "__main__":
    main()
