"""Build on disks that are too small by more and less, and report to one that is full (C4 row 8). Needs root.

    python -m benchmarks.full_disks --encoder models/small --corpus en=FILE --corpus de=FILE --disks 20

Each disk (a tmpfs) holds an index of the first half of the corpora; a build of the whole must then say in one
line that there is no space and end with 1, leave the old version served and whole, and nothing but its work
folder beside it. With space there the same command must make the files of a build that always had it.
"""

import json
import multiprocessing
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
import numpy as np

from benchmarks.build_kills import halves
from index.storage.versions import VERSIONS, WORK, current, open_version, versions
from passepartout import run

FORK = multiprocessing.get_context("fork")  # what is imported is there already
AMPLE = 1 << 30  # bytes


@contextmanager
def disk(folder: Path, size: int) -> Iterator[Path]:
    folder.mkdir(exist_ok=True)
    mount(f"size={size}", folder)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def mount(options: str, folder: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)


def build(encoder: Path, corpora: Mapping[str, Path], out: Path, errors: Path, factory: str) -> int:
    """`passepartout index build` in a process of its own, what it says written to `errors`; its exit code."""
    words = ["index", "build", "--encoder", str(encoder), "--out", str(out), "--threads", "1"]
    words += ["--factory", factory]
    for code, path in corpora.items():
        words += ["--corpus", f"{code}={path}"]
    process = FORK.Process(target=_build, args=(words, errors))
    process.start()
    process.join()
    return process.exitcode or 0


def _build(words: list[str], errors: Path) -> None:
    with errors.open("w") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
        os._exit(run(words))


def size_of(folder: Path) -> int:
    """Bytes on a tmpfs, in pages."""
    return sum(-(-path.lstat().st_size // 4096) * 4096 for path in folder.rglob("*"))


def one_disk(
    encoder: Path,
    corpora: Sequence[Mapping[str, Path]],
    folder: Path,
    size: int,
    wanted: object,
    factory: str,
) -> Counter[str]:
    """A build without space and the same with it: what of it counts."""
    counts = Counter[str]()
    first, every = corpora
    errors = folder.with_suffix(".errors")
    with disk(folder, AMPLE):
        out = folder / "index"
        assert build(encoder, first, out, errors, factory) == 0
        old = current(out)
        mount(f"remount,size={size}", folder)
        code = build(encoder, every, out, errors, factory)
        if code == 0:
            return Counter(fitted=1)
        said = errors.read_text("utf-8")
        counts["refused"] += code == 1 and "No space left" in said.splitlines()[-1]
        counts["tracebacks"] += "Traceback" in said
        open_version(out, fresh=True)
        counts["old version served"] += versions(out) == [old] == [current(out)]
        counts["nothing else"] += {path.name for path in out.iterdir()} <= {VERSIONS, WORK, "CURRENT"}
        mount(f"remount,size={AMPLE}", folder)
        counts["finished with space"] += build(encoder, every, out, errors, factory) == 0
        counts["identical"] += open_version(out, fresh=True)[1].files == wanted
        counts["work left"] += any(path.is_dir() for path in (out / WORK).iterdir())
    return counts


@click.command()
@click.option("--encoder", type=click.Path(path_type=Path), required=True)
@click.option("--corpus", "given", multiple=True, required=True, help="LANG=FILE, plain text.")
@click.option("--disks", default=20, show_default=True)
@click.option("--factory", default="Flat", show_default=True)
def main(encoder: Path, given: Sequence[str], disks: int, factory: str) -> None:
    every = {code: Path(name) for code, _, name in (corpus.partition("=") for corpus in given)}
    with tempfile.TemporaryDirectory(prefix="passepartout-disks-") as name:
        folder = Path(name)
        first = halves(every, folder)[0]
        errors = folder / "errors"
        assert build(encoder, first, folder / "old", errors, factory) == 0
        assert build(encoder, every, folder / "new", errors, factory) == 0
        small, large = size_of(folder / "old"), size_of(folder / "new")
        wanted = open_version(folder / "new")[1].files
        total: Counter[str] = Counter()
        for size in np.linspace(1.01 * small, small + large, disks).astype(int).tolist():
            total += one_disk(encoder, (first, every), folder / "disk", size, wanted, factory)
        out = folder / "unheard"
        code = build(encoder, every, out, Path("/dev/full"), factory)
        same = open_version(out, fresh=True)[1].files == wanted if code == 0 else None
        counts = {"disks": disks, **total, "tracebacks": total["tracebacks"], "work left": total["work left"]}
        click.echo(json.dumps({**counts, "/dev/full": {"exit": code, "identical": same}}))


if __name__ == "__main__":
    main()
