"""Beyond one machine: a shard on its way to a Ray worker and back, and Milvus against exact search.

    python -m benchmarks.beyond ray --encoder models/small --captions en=FILE
    python -m benchmarks.beyond milvus --encoder models/small --captions en=FILE --captions de=FILE [--graph]

Corpora are recombined captions (recombined.py). `ray` starts a local cluster of one worker: bytes are what a
shard sends and gets, seconds those of a round trip with nothing to do, and with a shard to encode. `milvus`
builds the index twice, in files compared exactly and in milvus-lite, and asks both the same: recall of the
ten nearest by cosine, and the share of answers (CSLS, ten each) that are the same. How fast milvus-lite is
says nothing of Milvus, so no times are taken.
"""

import json
import pickle
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import click
import numpy as np

from benchmarks.recombined import recombined
from index.answers.translator import Translator
from index.build.build_index import build_index
from index.build.job import Job
from index.build.lexicon import detector_of
from index.build.ray import RayPool
from index.build.reading import SHARD_LINES
from index.encoder.bundle import Bundle, open_bundle
from index.encoder.text_encoder import TextEncoder
from index.storage.options import Options
from index.storage.versions import open_version
from index.vectors import milvus as milvus_vectors
from index.vectors.vector_index import recall

TIMED_ROUNDS = 20
NEAREST = 10

ENCODER = click.option("--encoder", type=click.Path(path_type=Path), required=True)
CAPTIONS = click.option("--captions", multiple=True, required=True, metavar="LANG=FILE")


@click.group()
def main() -> None:
    """Two measures."""


@main.command()
@ENCODER
@CAPTIONS
def ray(encoder: Path, captions: tuple[str, ...]) -> None:
    bundle = open_bundle(encoder)
    code, path = captions[0].split("=", 1)
    texts = list(recombined(Path(path).read_text("utf-8").splitlines(), SHARD_LINES, code))
    with tempfile.TemporaryDirectory() as folder:
        job = Job(Path(folder), Path(folder), bundle, TextEncoder(bundle), threads=1)
        with RayPool(job, detector_of(job.encoder, {})) as encoders:
            vectors = encoders.encode(code, texts, False).result()  # the first starts the worker
            encoding = median(lambda: encoders.encode(code, texts, False).result(), 5)
            empty = median(lambda: encoders.count([], code).result())
    click.echo(
        json.dumps(
            {
                "sentences": SHARD_LINES,
                "bytes_there": len(pickle.dumps(texts)),
                "bytes_back": len(pickle.dumps(vectors)),
                "round_trip_ms": round(1000 * empty, 2),
                "shard_ms": round(1000 * encoding, 1),
            }
        )
    )


def median(act: Callable[[], object], rounds: int = TIMED_ROUNDS) -> float:
    """Seconds."""
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        act()
        taken.append(time.perf_counter() - began)
    return float(np.median(taken))


@main.command()
@ENCODER
@CAPTIONS
@click.option("--size", default=30_000, show_default=True, help="Sentences a language.")
@click.option("--graph", is_flag=True, help="A graph (HNSW) whatever their number.")
@click.option("--asked", default=200, show_default=True, help="Questions a pair of languages.")
def milvus(encoder: Path, captions: tuple[str, ...], size: int, graph: bool, asked: int) -> None:
    bundle = open_bundle(encoder)
    pairs = (given.split("=", 1) for given in captions)
    if graph:
        vars(milvus_vectors)["GRAPH_ROWS"] = 0
    texts = {code: Path(path).read_text("utf-8").splitlines() for code, path in pairs}
    with tempfile.TemporaryDirectory() as work:
        click.echo(json.dumps(_compared(bundle, texts, size, asked, Path(work)), indent=1))


def _compared(
    bundle: Bundle, captions: Mapping[str, list[str]], size: int, asked: int, work: Path
) -> dict[str, object]:
    corpora = {}
    for code, lines in captions.items():
        corpora[code] = work / f"{code}.txt"
        corpora[code].write_text("\n".join(recombined(lines, size, code)) + "\n", "utf-8")
    build_index(bundle, corpora, work / "files", options=Options("Flat"))
    store = f"milvus://{work}/vectors.db"
    build_index(bundle, corpora, work / "stored", options=Options(store=store))
    exact, stored = Translator.open(work / "files"), Translator.open(work / "stored")
    figures: dict[str, object] = {"bytes": _bytes(work / "vectors.db")}
    for code, entry in open_version(work / "stored")[1].languages.items():
        figures[code] = {"sentences": entry.sentences, **entry.search.model_dump(exclude_defaults=True)}
    for source in captions:
        questions = list(recombined(captions[source], asked, source, seed=1))
        vectors = exact.encode(questions)
        for target in (code for code in captions if code != source):
            indexes = [each.sentence_indexes[target] for each in (stored, exact)]
            rows = [index.vectors.search(vectors, NEAREST)[1] for index in indexes]
            answers = [
                [{match.id for match in row} for row in each.sentences(questions, source, target, NEAREST)]
                for each in (stored, exact)
            ]
            same = sum(len(answer & other) for answer, other in zip(*answers, strict=True))
            figures[f"{source}-{target}"] = {
                "recall": round(recall(*rows), 4),
                "same_answers": round(same / (asked * NEAREST), 4),
            }
    return figures


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
