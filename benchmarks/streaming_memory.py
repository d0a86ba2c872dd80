"""Peak memory of streaming drawn captioned pictures from Parquet or tar: some, and a hundred times as many.

python -m benchmarks.streaming_memory [--kind parquet|tar] [--rows 10000 --rows 1000000] [--scratch DIR]

Each number of rows is written to shards and then streamed by a process of its own: one pass for the inventory
and the vocabulary, then the windows of one pass, with their batches of captions and decoded pictures.
"""

import io
import json
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from training.data.picture_source import AugmentedPictures
from training.data.sampler import PictureSampler
from training.data.stream import Stream, take_inventory
from training.data.synthetic.dataset import captions, draw, draw_scenes
from training.data.tokens import pad, tokenize, train_tokenizer
from training.encoders.vision import PixelScale
from training.recipes.settings import TokenizerSettings

CPU = torch.device("cpu")
LANGUAGES = ("en", "de", "pt")
SCENES, SIDE, PER_SHARD, PER_GROUP = 200, 32, 10_000, 1_000
WINDOW, BATCH = 8192, 512


@click.group(invoke_without_command=True)
@click.option("--kind", type=click.Choice(["parquet", "tar"]), default="parquet", show_default=True)
@click.option("--rows", multiple=True, type=int, default=(10_000, 1_000_000), show_default=True)
@click.option("--scratch", type=click.Path(path_type=Path), help="Where shards are written, and removed.")
@click.pass_context
def main(context: click.Context, kind: str, rows: tuple[int, ...], scratch: Path | None) -> None:
    """Print one JSON object: rows -> what `stream` printed of them."""
    if context.invoked_subcommand:
        return
    found = {}
    for count in rows:
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            size = write_shards(Path(folder), kind, count)
            words = [sys.executable, __file__, "stream", folder]
            done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
            found[count] = {"shards_mb": round(size / 1e6), **json.loads(done.stdout)}
    click.echo(json.dumps({"kind": kind, "rows": found}, indent=1))


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
def stream(folder: Path) -> None:
    """Stream a folder of shards once; print pairs a second and the peak of resident memory in MB."""
    began = time.monotonic()
    stock = Stock(folder)
    settings = TokenizerSettings(vocabulary=1000)
    tokenizer = train_tokenizer(stock, settings, sequence_token=True, max_tokens=50)
    windows = Stream(folder, stock.inventory, LANGUAGES, WINDOW, seed=0)
    pairs = 0
    for number in range(windows.windows):
        window = windows.window(number, SIDE)
        tokens = tokenize(tokenizer, [caption.text for caption in window.data.captions])
        names = window.data.pictures
        pictures = AugmentedPictures(window, names, PixelScale(), 1, device=CPU)
        for batch in PictureSampler(window.data, BATCH, 0).batches(number):
            pad([tokens[i] for i in batch], CPU)
            pictures.plain(np.asarray([window.data.captions[i].picture for i in batch]))
            pairs += len(batch)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = time.monotonic() - began
    click.echo(json.dumps({"pairs": pairs, "seconds": round(seconds), "peak_mb": round(peak)}))


class Stock:
    """The captions of the shards; then their inventory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __iter__(self) -> Iterator[str]:
        self.inventory = yield from take_inventory(self.folder, LANGUAGES)


def write_shards(folder: Path, kind: str, count: int) -> int:
    """Write `count` rows about SCENES scenes, each with a name of its own; their size in bytes."""
    scenes = draw_scenes(SCENES, 0)
    pictures = []
    for scene in scenes:
        buffer = io.BytesIO()
        draw(scene, SIDE, Random(0)).save(buffer, "JPEG")
        pictures.append(buffer.getvalue())
    texts = [{code: captions(scene, code, Random(0), 1) for code in LANGUAGES} for scene in scenes]
    write = write_parquet if kind == "parquet" else write_tar
    for start in range(0, count, PER_SHARD):
        write(folder / f"{start:09d}", range(start, min(start + PER_SHARD, count)), pictures, texts)
    return sum(file.stat().st_size for file in folder.iterdir())


def write_parquet(stem: Path, rows: range, pictures: list[bytes], texts: list[dict[str, list[str]]]) -> None:
    columns = {"name": [f"{row:09d}" for row in rows], "image": [pictures[row % SCENES] for row in rows]}
    for code in LANGUAGES:
        columns[code] = [texts[row % SCENES][code] for row in rows]
    pq.write_table(pa.table(columns), stem.with_suffix(".parquet"), row_group_size=PER_GROUP)


def write_tar(stem: Path, rows: range, pictures: list[bytes], texts: list[dict[str, list[str]]]) -> None:
    with tarfile.open(stem.with_suffix(".tar"), "w", format=tarfile.USTAR_FORMAT) as tar:
        for row in rows:
            described = json.dumps(texts[row % SCENES]).encode()
            for kind, content in (("jpg", pictures[row % SCENES]), ("json", described)):
                entry = tarfile.TarInfo(f"{row:09d}.{kind}")
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))


if __name__ == "__main__":
    main()
