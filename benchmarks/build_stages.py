"""Where the processor time of a build goes, stage by stage, beside what the bare encoder takes.

    python -m benchmarks.build_stages --encoder models/small --captions en=FILE --captions de=FILE

One process does everything, so that its clock sees all of it; the corpora are recombined captions. Bare is
the encoder alone on the same texts in the same shards and batches (tokenise each text, run the graph),
measured before and after, so that whatever else runs on the machine slows both.
"""

import functools
import json
import tempfile
import time
from collections import defaultdict
from itertools import islice
from pathlib import Path
from typing import Any

import click

from benchmarks.recombined import recombined
from index.build import build_index as build
from index.build import lexicon
from index.build.lexicon import LanguageTokens
from index.build.shards import SHARD, Shards
from index.corpus.cleaning import Cleaner
from index.encoder.bundle import Bundle, open_bundle
from index.encoder.text_encoder import TextEncoder
from index.encoder.tokenizer import BundleTokenizer
from index.storage.tables import TableWriter
from index.text.identification import Detector

spent: defaultdict[str, float] = defaultdict(float)
running: list[str] = []


def timed(owner: Any, name: str, stage: str) -> None:  # noqa: ANN401 (a class or a module)
    """Count what a function takes, less what stages inside it take, as that stage."""
    function = getattr(owner, name)

    @functools.wraps(function)
    def wrapped(*given: Any, **named: Any) -> Any:  # noqa: ANN401
        begin = time.process_time()
        running.append(stage)
        try:
            return function(*given, **named)
        finally:
            took = time.process_time() - begin
            running.pop()
            spent[stage] += took
            if running:
                spent[running[-1]] -= took

    setattr(owner, name, wrapped)


STAGES: tuple[tuple[Any, str, str], ...] = (
    (BundleTokenizer, "encode_corpus", "tokenise"),
    (TextEncoder, "encode_tokens", "run the graph"),
    (Detector, "foreign", "language"),
    (Cleaner, "begin", "clean, keys of duplicates"),
    (Cleaner, "finish", "drop duplicates"),
    (TableWriter, "add", "write texts"),
    (Shards, "begin", "journal"),
    (Shards, "finish", "write vectors"),
    (build, "count_language", "count words, phrases"),
    (build, "choose_words", "choose words"),
    (LanguageTokens, "__init__", "language detector"),
    (LanguageTokens, "with_corpora", "language detector"),
    (build, "write_indexes", "FAISS indexes"),
    (build, "write_words", "word vectors, alignment"),
    (lexicon, "vectors_in_context", "contexts of words"),
    (build, "write_neighbourhoods", "neighbourhoods"),
    (build, "with_quality", "quality report"),
    (build, "publish", "checksums, publish"),
    (build, "read_language", "read, ids, all else"),
)


def bare(bundle: Bundle, texts: list[str]) -> float:
    """Seconds of the encoder alone."""
    encoder, rest = TextEncoder(bundle), iter(texts)
    begin = time.process_time()
    while shard := list(islice(rest, SHARD)):
        encoder.encode(shard)
    return time.process_time() - begin


@click.command()
@click.option("--encoder", type=click.Path(path_type=Path), required=True)
@click.option("--captions", multiple=True, required=True, help="LANG=FILE, a sentence a line.")
@click.option("--size", default=100_000, show_default=True, help="Sentences of each language.")
@click.option("--bare", "sample", default=30_000, show_default=True, help="Of them, for the bare encoder.")
def main(encoder: Path, captions: tuple[str, ...], size: int, sample: int) -> None:
    bundle = open_bundle(encoder)
    with tempfile.TemporaryDirectory(prefix="passepartout-stages-") as name:
        files = {}
        for code, _, given in (pair.partition("=") for pair in captions):
            lines = Path(given).read_text("utf-8").splitlines()
            files[code] = Path(name) / f"{code}.txt"
            with files[code].open("w", encoding="utf-8") as file:
                file.writelines(f"{text}\n" for text in recombined(lines, size, code))
        texts = [text for path in files.values() for text in islice(path.open(encoding="utf-8"), sample)]
        before = bare(bundle, texts)
        for owner, function, stage in STAGES:
            timed(owner, function, stage)
        begin = time.process_time()
        build.build_index(bundle, files, Path(name) / "index")
        whole = time.process_time() - begin
        stages = {"whole": whole, "all else": whole - sum(spent.values()), **spent}
        alone = (before + bare(bundle, texts)) / 2 / len(texts)
    longest_first = sorted(stages.items(), key=lambda stage: -stage[1])
    each = {stage: round(took / size / len(files) * 1e6, 2) for stage, took in longest_first}
    figures = {"sentences": size * len(files), "bare, microseconds a sentence": round(alone * 1e6, 2)}
    share = alone * size * len(files) / whole
    click.echo(
        json.dumps({**figures, "share of the bare encoder": round(share, 3), "stages": each}, indent=1)
    )


if __name__ == "__main__":
    main()
