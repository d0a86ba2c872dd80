"""A build against the bare encoder, and a change of two lines: sentences a second, seconds, memory.

    python -m benchmarks.build_speed --encoder models/open --captions FILE --sizes 100000,1000000

Corpora are recombined captions (recombined.py). Bare is what the encoder takes for the same texts, in shards
as a build has them, read and clean already. Seconds are of processor time, all processes together, so that
other work on the machine does not count; bare is measured before and after each build, and their mean taken.
Memory is the highest sum of what the processes have for themselves (RssAnon), sampled. The vectors of a
language are in it once, while FAISS makes their index: n x d x 4 bytes, x 2 where the index keeps 16 bits.
The change is `index add` of two lines, as a command of its own.
"""

import json
import multiprocessing
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import click

from benchmarks.recombined import recombined
from index.build.reading import SHARD_LINES
from index.encoder.bundle import open_bundle
from index.encoder.text_encoder import TextEncoder

SAMPLING_INTERVAL = 0.1  # seconds
SAMPLE_SENTENCES = 100_000  # sentences for the bare encoder


def tree(root: int) -> Iterator[int]:
    """A process and all below it."""
    yield root
    try:
        threads = list(Path(f"/proc/{root}/task").iterdir())
        children = [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:
        return
    for child in children:
        yield from tree(child)


def own_memory(process: int) -> int:
    """RssAnon, in bytes; 0 for a process that has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    lines = [line for line in status.splitlines() if line.startswith("RssAnon:")]
    return int(lines[0].split()[1]) * 1024 if lines else 0


def spent() -> float:
    """Processor seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def bare(encoder: Path, texts: Sequence[str]) -> None:
    text_encoder = TextEncoder(open_bundle(encoder), threads=1)
    rest = iter(texts)
    while shard := list(islice(rest, SHARD_LINES)):
        text_encoder.encode(shard)


def bare_seconds(encoder: Path, texts: Sequence[str]) -> float:
    """Of the encoder alone, without its start."""
    context = multiprocessing.get_context("spawn")
    took = []
    for given in ([], texts):
        before = spent()
        process = context.Process(target=bare, args=(encoder, given))
        process.start()
        process.join()
        took.append(spent() - before)
    return took[1] - took[0]


def measured(*words: object) -> tuple[float, float, int]:
    """Processor seconds, wall seconds and bytes of memory of `passepartout index` with some words."""
    before, began, most = spent(), time.monotonic(), 0
    command = [sys.executable, "-m", "passepartout", "index", *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        most = max(most, sum(map(own_memory, tree(process.pid))))
        time.sleep(SAMPLING_INTERVAL)
    if process.returncode:
        raise SystemExit(process.returncode)
    return spent() - before, time.monotonic() - began, most


@click.command()
@click.option("--encoder", type=click.Path(path_type=Path), required=True)
@click.option("--captions", type=click.Path(path_type=Path), required=True, help="A sentence a line.")
@click.option("--language", default="en", show_default=True)
@click.option("--sizes", default="100000,1000000", show_default=True)
@click.option("--threads", default=2, show_default=True)
def main(encoder: Path, captions: Path, language: str, sizes: str, threads: int) -> None:
    lines = captions.read_text("utf-8").splitlines()
    sample = list(recombined(lines, SAMPLE_SENTENCES, language))
    with tempfile.TemporaryDirectory(prefix="passepartout-build-") as name:
        for size in map(int, sizes.split(",")):
            corpus, out = Path(name) / f"{size}.txt", Path(name) / "index"
            with corpus.open("w", encoding="utf-8") as file:
                file.writelines(f"{text}\n" for text in recombined(lines, size, language))
            before = bare_seconds(encoder, sample)
            given = ("--corpus", f"{language}={corpus}", "--threads", threads)
            seconds, wall, memory = measured("build", "--encoder", encoder, *given, "--out", out)
            after = bare_seconds(encoder, sample)
            index = max(path.stat().st_size for path in out.rglob("*.faiss"))
            corpus.write_text("A zebra reads a newspaper.\nTwo zebras fold a map.\n", "utf-8")
            change = measured("add", out, *given)
            each = (before + after) / 2 / len(sample)
            shutil.rmtree(out)
            corpus.unlink()
            figures = {
                "sentences": size,
                "bare encoder, microseconds a sentence": round(each * 1e6, 1),
                "before and after": [round(took / len(sample) * 1e6, 1) for took in (before, after)],
                "build, microseconds a sentence": round(seconds / size * 1e6, 1),
                "share of the bare encoder": round(each * size / seconds, 3),
                "wall seconds": round(wall, 1),
                "memory, MB": round(memory / 1e6),
                "of it beyond the FAISS index, MB": round((memory - index) / 1e6),
                "two lines added: processor seconds, wall seconds, MB": [
                    round(change[0], 1),
                    round(change[1], 1),
                    round(change[2] / 1e6),
                ],
            }
            click.echo(json.dumps(figures))


if __name__ == "__main__":
    main()
