"""What searching costs: each structure against FAISS Flat, hnswlib and usearch, on captions, in one run.

The rows are recombined captions of one language (recombined.py), the queries captions of another: they lie
further from their nearest than rows do from each other, which is what an approximate search must cope with.
Every engine searches in a process of its own, one query at a time on one thread, in turn with the others: so
many queries each, then the next, several rounds. Times are of the processor, so that others on the machine
count little; memory is what the process has resident more than before it opened the index. Graphs are tried
with growing effort until their recall@10 reaches 0.99. What is made is kept in WORK and not made again.

    python -m benchmarks.search --encoder BUNDLE --captions en.txt --queries de.txt --work WORK [--json]

needs `pip install '.[bench]'`; `--engine` leaves engines out.
"""

import json
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import click
import numpy as np

os.environ.setdefault("OMP_NUM_THREADS", "1")

import faiss

from benchmarks.recombined import encoded, recombined
from index.encoder.text_encoder import Vectors
from index.search.inverted import InvertedIndex
from index.search.structure import Structure, choose
from index.search.tuning import nearest, recall, tune
from index.search.vector_index import Rows
from index.search.vectors import open_vectors, write_vectors

K = 10
RECALL = 0.99
EFFORTS = (16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
TUNED_ON = 256  # queries; others are measured
EXACT = 100_000
BATCH = 64
IN_TURN = 25  # queries
EXPANSION = 64  # of usearch while its graph grows: with its own 128, a million rows take more than an hour
ENGINES = ("flat", "pq", "ivf", "hnswlib", "usearch")

Search = Callable[[Vectors], Rows]


@dataclass(frozen=True)
class Measured:
    """Of an engine: median and 95th percentile, ms of processor time; MB; seconds to open; recall@10."""

    engine: str
    effort: str
    median: float
    p95: float
    memory: float
    opened: float
    recall: float


@click.command()
@click.option("--encoder", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--captions", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--queries", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--work", type=click.Path(path_type=Path), required=True)
@click.option("--vectors", "count", type=int, default=1_000_000, show_default=True)
@click.option("--asked", type=int, default=500, show_default=True)
@click.option("--rounds", default=3, show_default=True, help="Times that all are asked.")
@click.option("--engine", "engines", type=click.Choice(ENGINES), multiple=True, default=ENGINES)
@click.option("--json", "as_json", is_flag=True)
def main(
    encoder: Path,
    captions: Path,
    queries: Path,
    work: Path,
    count: int,
    asked: int,
    rounds: int,
    engines: tuple[str, ...],
    as_json: bool,
) -> None:
    """Measure every engine on the same rows and queries."""
    work.mkdir(parents=True, exist_ok=True)
    _make_vectors(encoder, captions, queries, work, count)
    _make_truth(work, asked)
    with ExitStack() as stack:
        asked_of = [stack.enter_context(_engine(engine, work)) for engine in engines]
        found = _in_turn(asked_of, asked, rounds)
    if not as_json:
        for one in found:
            click.echo(" ".join(f"{name}={value}" for name, value in asdict(one).items()))
    share = _gemm_share(work)
    if as_json:
        click.echo(json.dumps({"vectors": count, "engines": [asdict(one) for one in found], "gemm": share}))
    else:
        click.echo(f"batch of {BATCH}, {min(count, EXACT)} rows: {share:.2f} of the machine's own GEMM")


def _make_vectors(encoder: Path, captions: Path, queries: Path, work: Path, count: int) -> None:
    if not (work / "rows.npy").exists():
        lines = captions.read_text("utf-8").splitlines()
        texts = list(dict.fromkeys(recombined(lines, count + count // 4, "en")))[:count]
        np.save(work / "rows.npy", encoded(encoder, texts))
    if not (work / "queries.npy").exists():
        lines = queries.read_text("utf-8").splitlines()
        np.save(work / "queries.npy", encoded(encoder, lines[:: max(1, len(lines) // 4000)]))


def _make_truth(work: Path, asked: int) -> None:
    """queries.npy -> those to tune on and those to ask, and the latter's nearest rows."""
    queries = np.load(work / "queries.npy")
    queries = queries[np.random.default_rng(0).permutation(len(queries))]
    np.save(work / "tuned.npy", queries[:TUNED_ON])
    np.save(work / "asked.npy", queries[TUNED_ON : TUNED_ON + asked])
    rows, asked_ = np.load(work / "rows.npy", mmap_mode="r"), np.load(work / "asked.npy")
    np.save(work / "truth.npy", nearest(_Rows(rows), asked_, K))


class _Rows:
    """Rows of a file, as `nearest` reads them."""

    def __init__(self, rows: Vectors) -> None:
        self.rows, self.count = rows, len(rows)

    def vectors(self, start: int, count: int) -> Vectors:
        return np.ascontiguousarray(self.rows[start : start + count])


def _resident() -> float:
    """MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def _engine(engine: str, work: Path) -> Iterator[Connection]:
    """A process that searches: it makes its index, opens it and finds its effort before it says so."""
    context = multiprocessing.get_context("spawn")
    ours, its = context.Pipe()
    process = context.Process(target=_serve, args=(engine, work, its), daemon=True)
    process.start()
    try:
        ours.recv()
        yield ours
    finally:
        process.terminate()
        process.join()


def _in_turn(engines: Sequence[Connection], asked: int, rounds: int) -> list[Measured]:
    """Let the engines answer IN_TURN queries each, one engine after the other, all of them `rounds` times."""
    for _ in range(rounds):
        for start in range(0, asked, IN_TURN):
            for engine in engines:
                engine.send((start, start + IN_TURN))
                engine.recv()
    for engine in engines:
        engine.send(None)
    return [engine.recv() for engine in engines]


def _serve(engine: str, work: Path, asking: Connection) -> None:
    faiss.omp_set_num_threads(1)
    MAKERS[engine](work)
    queries, tuned, truth = (np.load(work / f"{name}.npy") for name in ("asked", "tuned", "truth"))
    before, start = _resident(), time.perf_counter()
    search, efforts = OPENERS[engine](work)
    opened = time.perf_counter() - start
    for effort in efforts(tuned):  # noqa: B007 (the last one is reported)
        reached = recall(np.concatenate([search(query[None]) for query in queries]), truth)
        if reached >= RECALL:
            break
    asking.send("ready")
    times = []
    while (part := asking.recv()) is not None:
        for query in queries[slice(*part)]:
            begin = time.process_time()
            search(query[None])
            times.append(1000 * (time.process_time() - begin))
        asking.send("done")
    p95 = float(np.percentile(times, 95))
    memory = _resident() - before
    asking.send(Measured(engine, effort, statistics.median(times), p95, memory, opened, reached))


Opened = tuple[Search, Callable[[Vectors], Any]]


def _flat(work: Path) -> Opened:
    index = faiss.IndexFlatIP(np.load(work / "rows.npy", mmap_mode="r").shape[1])
    index.add(np.load(work / "rows.npy"))
    return lambda query: index.search(query, K)[1], lambda tuned: [""]


def _ours(kind: str) -> Callable[[Path], Opened]:
    def opener(work: Path) -> Opened:
        structure = Structure.model_validate_json((work / f"{kind}.json").read_text())
        count, dimension = np.load(work / "rows.npy", mmap_mode="r").shape
        index = open_vectors(work / f"{kind}.faiss", count, dimension, structure=structure)
        lists = f"reach {structure.reach:.3f}" if structure.reach else "all"
        effort = f"{lists} of {structure.lists} lists, {structure.candidates} candidates"
        return lambda query: index.search(query, K)[1], lambda tuned: [effort]

    return opener


def _make_ours(kind: str) -> Callable[[Path], None]:
    def make(work: Path) -> None:
        if (work / f"{kind}.json").exists():
            return
        rows = np.load(work / "rows.npy", mmap_mode="r")
        structure = choose(len(rows), "pq" if kind == "pq" else "ivf")
        start = time.perf_counter()
        write_vectors(work / f"{kind}.faiss", rows, structure)
        click.echo(f"{kind} built in {time.perf_counter() - start:.0f} s", err=True)
        count, dimension = rows.shape
        index = InvertedIndex.open(work / f"{kind}.faiss", count, dimension, structure=structure)
        tuned = tune(index, structure, np.load(work / "tuned.npy"))
        (work / f"{kind}.json").write_text(tuned.model_dump_json())

    return make


def _make_hnswlib(work: Path) -> None:
    import hnswlib

    if (work / "hnswlib.bin").exists():
        return
    rows = np.load(work / "rows.npy", mmap_mode="r")
    index = hnswlib.Index("ip", rows.shape[1])
    index.init_index(len(rows), M=16, ef_construction=200, random_seed=1)
    start = time.perf_counter()
    index.add_items(np.asarray(rows), num_threads=1)
    click.echo(f"hnswlib built in {time.perf_counter() - start:.0f} s", err=True)
    index.save_index(str(work / "hnswlib.bin"))


def _hnswlib(work: Path) -> Opened:
    import hnswlib

    index = hnswlib.Index("ip", np.load(work / "rows.npy", mmap_mode="r").shape[1])
    index.load_index(str(work / "hnswlib.bin"))
    index.set_num_threads(1)

    def efforts(tuned: Vectors) -> Any:  # noqa: ANN401
        for effort in EFFORTS:
            index.set_ef(effort)
            yield f"ef {effort}"

    return lambda query: index.knn_query(query, K)[0].astype(np.int64), efforts


def _make_usearch(work: Path) -> None:
    from usearch.index import Index

    if (work / "usearch.bin").exists():
        return
    rows = np.load(work / "rows.npy", mmap_mode="r")
    index = Index(ndim=rows.shape[1], metric="ip", dtype="f16", expansion_add=EXPANSION)
    start = time.perf_counter()
    index.add(np.arange(len(rows)), np.asarray(rows), threads=1)
    click.echo(f"usearch built in {time.perf_counter() - start:.0f} s", err=True)
    index.save(str(work / "usearch.bin"))


def _usearch(work: Path) -> Opened:
    from usearch.index import Index

    index: Any = Index.restore(str(work / "usearch.bin"))

    def efforts(tuned: Vectors) -> Any:  # noqa: ANN401
        for effort in EFFORTS:
            index.expansion_search = effort
            yield f"expansion {effort}"

    return lambda query: index.search(query[0], K, threads=1).keys.astype(np.int64)[None], efforts


OPENERS = {"flat": _flat, "pq": _ours("pq"), "ivf": _ours("ivf"), "hnswlib": _hnswlib, "usearch": _usearch}
MAKERS: dict[str, Callable[[Path], None]] = {
    "flat": lambda work: None,
    "pq": _make_ours("pq"),
    "ivf": _make_ours("ivf"),
    "hnswlib": _make_hnswlib,
    "usearch": _make_usearch,
}


def _gemm_share(work: Path) -> float:
    """The time of a product of the same size over that of an exact search, batches in turn."""
    rows = np.ascontiguousarray(np.load(work / "rows.npy", mmap_mode="r")[:EXACT])
    write_vectors(work / "exact.faiss", rows)
    index, batch = open_vectors(work / "exact.faiss", *rows.shape), np.load(work / "asked.npy")[:BATCH]
    marks = []
    for _ in range(15):
        start = time.process_time()
        np.dot(batch, rows.T)
        middle = time.process_time()
        index.search(batch, K)
        marks.append((middle - start, time.process_time() - middle))
    product, searched = (statistics.median(column) for column in zip(*marks, strict=True))
    return float(product / searched)


if __name__ == "__main__":
    main()
