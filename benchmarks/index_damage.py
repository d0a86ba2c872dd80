"""Damage an index in every way there is, and count what is refused before a parser sees it (C4 row 9).

    python -m benchmarks.index_damage --index INDEX --times 10000

Each time one byte of one file is changed, or the file is cut, or gets the content of another; the index must
then be refused with one line. Bytes of manifest.json that carry nothing (spaces between values) may change.
"""

import json
import os
import random
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import click

from index.errors import BundleError
from index.storage.versions import VERSIONS, current, open_version


def flip(path: Path, draw: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[draw.randrange(len(content))] ^= draw.randrange(1, 256)
    path.write_bytes(content)


def cut(path: Path, draw: random.Random) -> None:
    os.truncate(path, draw.randrange(path.stat().st_size))


def swap(path: Path, draw: random.Random) -> None:
    others = [other for other in files(path.parent) if other.read_bytes() != path.read_bytes()]
    path.write_bytes(draw.choice(others).read_bytes() if others else b"")


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)


@click.command()
@click.option("--index", "source", type=click.Path(path_type=Path), required=True)
@click.option("--times", default=10_000, show_default=True)
@click.option("--seed", default=0, show_default=True)
def main(source: Path, times: int, seed: int) -> None:
    draw, counts = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="passepartout-damage-") as name:
        index = Path(name) / "index"
        shutil.copytree(source, index)
        names = files(index / VERSIONS / current(index))
        wanted = open_version(index)[1]
        for _ in range(times):
            path, damage = draw.choice(names), draw.choice([flip, cut, swap])
            content = path.read_bytes()
            damage(path, draw)
            try:
                counts["opened as it was" if open_version(index)[1] == wanted else "BELIEVED"] += 1
            except BundleError as error:
                counts["refused" if "\n" not in str(error) else "in several lines"] += 1
            path.write_bytes(content)
        open_version(index, fresh=True)
    click.echo(json.dumps({"times": times, "files": len(names), **counts}))


if __name__ == "__main__":
    main()
