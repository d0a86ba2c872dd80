"""Kill -9 a build at random moments: what is served, and whether going on gives the same bytes.

    python -m benchmarks.build_kills --encoder models/small --corpus en=FILE --corpus de=FILE --kills 200

An index is built from the first half of each corpus and served; builds of the whole, in processes of their
own, are killed after a random share of the time that an unbroken one takes. After each kill the version
served must open, every checksum computed anew; then the build is repeated, unbroken, and must give the
files of a build that never was killed.
"""

import json
import multiprocessing
import os
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from index.build import build_index
from index.bundle import open_bundle
from index.files import describe
from index.versions import current, open_version, versions

FORK = multiprocessing.get_context("fork")  # what is imported is there already


def work(encoder: Path, corpora: Sequence[str], out: Path, threads: int) -> None:
    """A build, in a process of its own."""
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
        pairs = [corpus.partition("=") for corpus in corpora]
        files = {code: Path(name) for code, _, name in pairs}
        build_index(open_bundle(encoder), files, out, threads=threads)


def finish(*given: Any) -> None:  # noqa: ANN401 (what `work` takes)
    process = FORK.Process(target=work, args=given)
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"a build ended with {process.exitcode}")


def kill(seconds: float, *given: Any) -> bool:  # noqa: ANN401 (what `work` takes)
    """Start a build and kill it; whether it was still at work."""
    process = FORK.Process(target=work, args=given)
    process.start()
    process.join(seconds)
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


def halves(corpora: Sequence[str], folder: Path) -> list[str]:
    """The first half of each corpus, LANG=FILE."""
    found = []
    for corpus in corpora:
        code, _, name = corpus.partition("=")
        lines = Path(name).read_text("utf-8").splitlines(keepends=True)
        half = folder / f"half.{code}.txt"
        half.write_text("".join(lines[: len(lines) // 2]), "utf-8")
        found.append(f"{code}={half}")
    return found


def where(out: Path) -> str:
    """What a killed build was at, by what it left."""
    for work in sorted((out / "work").glob("*.parts")):
        folder = work.with_name(work.name.removesuffix(".parts"))
        if not folder.exists():
            return "published"
        for name, stage in (
            ("detector.npy", "publishing"),
            ("*.words.*", "words"),
            ("*.hubness.npy", "neighbourhoods"),
            ("*.faiss", "structures"),
        ):
            if any(folder.glob(name)):
                return stage
        return "encoding" if any(work.glob("*.journal")) else "starting"
    return "before or after"


def once(
    encoder: Path,
    corpora: Sequence[str],
    pristine: Path,
    out: Path,
    threads: int,
    wanted: object,
    seconds: float,
) -> Counter[str]:
    """One kill: what of it counts."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(pristine, out)
    old = current(out)
    found = Counter(kills=int(kill(seconds, encoder, corpora, out, threads)))
    found[f"killed: {where(out)}"] += 1
    for version in versions(out):
        open_version(out, version, fresh=True)
    found["served new"] += current(out) != old
    journals = [path.read_bytes() for path in (out / "work").glob("*.parts/*.journal")]
    noted = sum(content.count(b"\n") for content in journals)
    finish(encoder, corpora, out, threads)
    found["identical"] += open_version(out, fresh=True)[1].files == wanted
    found["shards that had been noted"] += noted
    return found


@click.command()
@click.option("--encoder", type=click.Path(path_type=Path), required=True)
@click.option("--corpus", "corpora", multiple=True, required=True, help="LANG=FILE, plain text.")
@click.option("--kills", default=200, show_default=True)
@click.option("--threads", default=2, show_default=True)
@click.option("--seed", default=0, show_default=True)
def main(encoder: Path, corpora: Sequence[str], kills: int, threads: int, seed: int) -> None:
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="passepartout-kills-") as name:
        folder = Path(name)
        pristine, out = folder / "pristine", folder / "out"
        finish(encoder, halves(corpora, folder), pristine, threads)
        shutil.copytree(pristine, out)
        began = time.monotonic()
        finish(encoder, corpora, out, threads)
        whole = time.monotonic() - began
        wanted = open_version(out, fresh=True)[1].files
        total: Counter[str] = Counter()
        tries = 0
        while total["kills"] < kills:
            tries += 1
            seconds = draw.uniform(0, 1.05 * whole)
            total += once(encoder, corpora, pristine, out, threads, wanted, seconds)
            if tries % 10 == 0:
                click.echo(f"{tries}: {json.dumps(dict(total))}", err=True)
        assert describe(pristine)
        click.echo(json.dumps({"tries": tries, "seconds": round(whole, 1), **total}, indent=1))


if __name__ == "__main__":
    main()
