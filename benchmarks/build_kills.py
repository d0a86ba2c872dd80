"""Kill -9 a build or a change at random moments: what is served, and whether going on gives the same bytes.

    python -m benchmarks.build_kills --encoder models/small --corpus en=FILE --corpus de=FILE --kills 200

`--what add`, `replace` or `delete` kills changes of that index instead: the second half of the corpora added,
texts of the first half taken for its other texts, every third sentence deleted. `--shard` makes shards of
fewer lines, so that a small corpus has many to go on from.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from index.build import previous_version as base
from index.build import reading
from index.build.build_index import build_index
from index.build.changes import change_index
from index.build.shards import SHARD
from index.corpus.sentence_table import COLUMNS
from index.encoder.bundle import open_bundle
from index.formats.registry import Source
from index.storage.files import describe
from index.storage.tables import read_table
from index.storage.versions import current, open_version, versions

FORK = multiprocessing.get_context("fork")  # what is imported is there already


@dataclass(frozen=True)
class Task:
    """What is done to the index: a build of `corpora`, or a change of the version `base`."""

    encoder: Path
    corpora: Mapping[str, Path]
    threads: int
    what: str = "build"
    base: str = ""
    deleted: tuple[str, ...] = ()

    def run(self, out: Path) -> None:
        sources = [Source(path, code) for code, path in self.corpora.items()]
        if self.what == "build":
            build_index(open_bundle(self.encoder), sources, out, threads=self.threads)
        elif self.what == "delete":
            change_index(out, delete=self.deleted, threads=self.threads, base=self.base)
        else:
            given: dict[str, Any] = {self.what: sources}
            change_index(out, threads=self.threads, base=self.base, **given)


def work(task: Task, out: Path) -> None:
    """In a process of its own."""
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    task.run(out)


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


def halves(corpora: Mapping[str, Path], folder: Path) -> tuple[dict[str, Path], dict[str, Path]]:
    """The first half of each corpus and the second, by language."""
    parts: tuple[dict[str, Path], dict[str, Path]] = {}, {}
    for code, path in corpora.items():
        lines = path.read_text("utf-8").splitlines(keepends=True)
        half = len(lines) // 2
        for part, half_lines, name in zip(
            parts, (lines[:half], lines[half:]), ("first", "second"), strict=True
        ):
            part[code] = folder / f"{name}.{code}.txt"
            part[code].write_text("".join(half_lines), "utf-8")
    return parts


def task_of(
    what: str, encoder: Path, corpora: Mapping[str, Path], folder: Path, threads: int
) -> tuple[Task, Path]:
    """The task, and the index that it starts from."""
    first, second = halves(corpora, folder)
    pristine = folder / "pristine"
    finish(Task(encoder, first, threads), pristine)
    if what == "build":
        return Task(encoder, corpora, threads), pristine
    served = current(pristine)
    rows = {code: own_ids(pristine, served, code) for code in first}
    deleted = tuple(sentence_id for ids in rows.values() for sentence_id in ids[::3])
    if what == "replace":
        second = {code: turned(first[code], ids, folder) for code, ids in rows.items()}
    return Task(encoder, second, threads, what, served, deleted if what == "delete" else ()), pristine


def own_ids(index: Path, version: str, code: str) -> list[str]:
    folder, manifest = open_version(index, version)
    table = read_table(folder / f"{code}.arrow", COLUMNS, manifest.languages[code].sentences)
    ids: list[str] = table.column("id").to_pylist()
    return ids


def turned(path: Path, ids: Sequence[str], folder: Path) -> Path:
    """JSON Lines that give each sentence the words of its line in another order."""
    lines = path.read_text("utf-8").splitlines()
    target = folder / f"{path.stem}.jsonl"
    with target.open("w", encoding="utf-8") as file:
        for sentence_id in ids:
            number = sentence_id.partition(":")[2]
            text = " ".join(reversed(lines[int(number) - 1].split()))
            file.write(json.dumps({"id": number, "text": text}) + "\n")
    return target


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
            ("*.faiss", "vectors"),
        ):
            if any(folder.glob(name)):
                return stage
        return "encoding" if any(work.glob("*.journal")) else "starting"
    return "before or after"


def once(task: Task, pristine: Path, out: Path, wanted: object, seconds: float) -> Counter[str]:
    """One kill: what of it counts."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(pristine, out)
    old = current(out)
    counts = Counter(kills=int(kill(seconds, task, out)))
    counts[f"killed: {where(out)}"] += 1
    for version in versions(out):
        open_version(out, version, fresh=True)
    counts["served new"] += current(out) != old
    journals = [path.read_bytes() for path in (out / "work").glob("*.parts/*.journal")]
    noted = sum(content.count(b"\n") for content in journals)
    finish(task, out)
    counts["identical"] += open_version(out, fresh=True)[1].files == wanted
    counts["shards that had been noted"] += noted
    return counts


@click.command()
@click.option("--encoder", type=click.Path(path_type=Path), required=True)
@click.option("--corpus", "given", multiple=True, required=True, help="LANG=FILE, plain text.")
@click.option("--what", type=click.Choice(["build", "add", "replace", "delete"]), default="build")
@click.option("--kills", default=200, show_default=True)
@click.option("--threads", default=2, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--shard", default=SHARD, show_default=True, help="Lines.")
def main(
    encoder: Path, given: Sequence[str], what: str, kills: int, threads: int, seed: int, shard: int
) -> None:
    draw = random.Random(seed)
    for module in (reading, base):
        vars(module)["SHARD"] = shard  # before the builds are forked
    corpora = {code: Path(name) for code, _, name in (corpus.partition("=") for corpus in given)}
    with tempfile.TemporaryDirectory(prefix="passepartout-kills-") as name:
        folder = Path(name)
        task, pristine = task_of(what, encoder, corpora, folder, threads)
        out = folder / "out"
        shutil.copytree(pristine, out)
        began = time.monotonic()
        finish(task, out)
        whole = time.monotonic() - began
        wanted = open_version(out, fresh=True)[1].files
        total: Counter[str] = Counter()
        tries = 0
        while total["kills"] < kills:
            tries += 1
            total += once(task, pristine, out, wanted, draw.uniform(0, 1.05 * whole))
            if tries % 10 == 0:
                click.echo(f"{tries}: {json.dumps(dict(total))}", err=True)
        assert describe(pristine)
        click.echo(json.dumps({"what": what, "tries": tries, "seconds": round(whole, 1), **total}, indent=1))


if __name__ == "__main__":
    main()
