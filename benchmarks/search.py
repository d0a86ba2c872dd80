"""What a search costs: the index that a build would make against FAISS Flat, on captions, in one run.

The rows are recombined captions of one language (recombined.py), the queries captions of another: they lie
further from their nearest than rows do from each other, which is what an approximate search must cope with.
Queries are asked one at a time on one thread, as a translator asks, of the two in turn; times are of the
processor, so that others on the machine count little. Memory is what a second process that serves the same
file has for itself (RssAnon): vectors are pages of the file, which it shares. What is made is kept in WORK.

    python -m benchmarks.search --encoder BUNDLE --captions en.txt --queries de.txt --work WORK
"""

import json
import multiprocessing
import os
import statistics
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import click
import numpy as np

os.environ.setdefault("OMP_NUM_THREADS", "1")

import faiss

from benchmarks.recombined import encoded, recombined
from index.arrays import Vectors
from index.storage.index_manifest import SearchSettings
from index.vectors.faiss import FaissIndex, factory_string, write_faiss
from index.vectors.tuning import RECALL_NEIGHBOURS, nearest, recall, tune
from index.vectors.vector_index import CANDIDATE_COUNT

TUNING_QUERIES = 256  # as many as a build asks; others are measured


@click.command()
@click.option("--encoder", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--captions", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--queries", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--work", type=click.Path(path_type=Path), required=True)
@click.option("--vectors", "count", type=int, default=1_000_000, show_default=True)
@click.option("--factory", help="The index.  [what suits the number of vectors]")
@click.option("--asked", type=int, default=500, show_default=True)
def main(
    encoder: Path, captions: Path, queries: Path, work: Path, count: int, factory: str | None, asked: int
) -> None:
    """Build an index of COUNT vectors and measure it."""
    work.mkdir(parents=True, exist_ok=True)
    rows, foreign = make_vectors(encoder, captions, queries, work, count)
    tuning, foreign = foreign[:TUNING_QUERIES], foreign[TUNING_QUERIES : TUNING_QUERIES + asked]
    settings = SearchSettings(factory=factory or factory_string(*rows.shape))
    path = work / f"{count}.{settings.factory}.faiss"
    began = time.process_time()
    if not path.exists():
        write_faiss(path, rows, settings.factory)
    built = time.process_time() - began
    index = FaissIndex.open(path, len(rows), rows.shape[1], settings)
    settings = tune(index, settings, tuning, nearest(rows, tuning))
    figures = {
        "vectors": len(rows),
        "factory": settings.factory,
        "parameters": settings.parameters,
        "recall@10": recall(
            index.search(foreign, CANDIDATE_COUNT)[1][:, :RECALL_NEIGHBOURS], nearest(rows, foreign)
        ),
        **milliseconds(index, rows, foreign),
        "MB that a second process adds": second_process(path, rows.shape, settings, foreign),
        "MB of the file": round(path.stat().st_size / 1e6),
        "processor seconds to build": round(built, 1),
    }
    click.echo(json.dumps(figures))


def make_vectors(
    encoder: Path, captions: Path, queries: Path, work: Path, count: int
) -> tuple[Vectors, Vectors]:
    """The rows, memory-mapped, and the queries, shuffled; (n, d) each."""
    if not (work / f"{count}.npy").exists():
        lines = captions.read_text("utf-8").splitlines()
        texts = dict.fromkeys(lines if count <= len(lines) else recombined(lines, count + count // 4, "en"))
        np.save(work / f"{count}.npy", encoded(encoder, list(texts)[:count]))
    if not (work / "queries.npy").exists():
        lines = queries.read_text("utf-8").splitlines()
        np.save(work / "queries.npy", encoded(encoder, lines[:: max(1, len(lines) // 4000)]))
    foreign = np.load(work / "queries.npy")
    return np.load(work / f"{count}.npy", mmap_mode="r"), np.random.default_rng(0).permutation(foreign)


def milliseconds(index: FaissIndex, rows: Vectors, queries: Vectors) -> dict[str, float]:
    """Medians of the two, asked in turn for as many candidates as a translator looks at."""
    flat = faiss.IndexFlatIP(rows.shape[1])
    flat.add(np.ascontiguousarray(rows))
    faiss.omp_set_num_threads(1)
    engines: tuple[Any, Any] = (index, flat)
    times: dict[str, list[float]] = {"ms a query": [], "ms a query, FAISS Flat": []}
    for query in queries:
        for name, engine in zip(times, engines, strict=True):
            began = time.process_time()
            engine.search(query[None], CANDIDATE_COUNT)
            times[name].append(1000 * (time.process_time() - began))
    ours, theirs = (statistics.median(taken) for taken in times.values())
    return {
        **dict(zip(times, (round(ours, 3), round(theirs, 3)), strict=True)),
        "times": round(theirs / ours, 1),
    }


def second_process(path: Path, shape: tuple[int, ...], settings: SearchSettings, queries: Vectors) -> int:
    """MB that a process has for itself alone, more once it has opened the file and answered."""
    ours, its = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(path, shape, settings, queries, its)
    )
    process.start()
    megabytes: int = ours.recv()
    process.join()
    return megabytes


def _serve(
    path: Path, shape: tuple[int, int], settings: SearchSettings, queries: Vectors, result: Connection
) -> None:
    before = anonymous_megabytes()
    index = FaissIndex.open(path, *shape, settings)
    for query in queries:
        index.search(query[None], CANDIDATE_COUNT)
    result.send(round(anonymous_megabytes() - before))


def anonymous_megabytes() -> float:
    """RssAnon of this process."""
    status = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in status if line.startswith("RssAnon:"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
