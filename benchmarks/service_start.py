"""How long after `passepartout serve` is started its first sentence is translated.

    python -m benchmarks.service_start --index INDEX --text "A dog runs." --source en --target de [--times 5]

The process is started anew each time, files in the system's cache; it is asked once it says that it is
ready, for which is looked every 50 ms.
"""

import json
import statistics
import time
from pathlib import Path

import click

from benchmarks.service_latency import connected, translating


@click.command()
@click.option("--index", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--text", required=True)
@click.option("--source", required=True, help="Language of the text.")
@click.option("--target", required=True, help="Language to translate into.")
@click.option("--times", default=5, show_default=True)
def main(index: Path, text: str, source: str, target: str, times: int) -> None:
    """Print one JSON object: the median and every time, in seconds."""
    body = json.dumps({"text": text, "source": source, "target": target, "min_confidence": 0}).encode()
    times_taken = [round(seconds_to_answer(index, body), 2) for _ in range(times)]
    click.echo(json.dumps({"median": statistics.median(times_taken), "seconds": times_taken}))


def seconds_to_answer(index: Path, body: bytes) -> float:
    began = time.monotonic()
    with translating(index) as (port, _), connected(port) as ask:
        ask(body)
        return time.monotonic() - began


if __name__ == "__main__":
    main()
