"""One system from recipe to figures, by the real commands: what `reproduce` and the benchmarks share.

The figures of a system, in per cent:
cosine_*, csls_*: R@1, R@5 and R@10 among the 1,000 sentences of Multi30k test 2016, mean over the ordered
pairs of the languages asked for. positives: Globetrotter's own measure on captions of 200 test pictures, all
languages of the system in one pool. scripts_*: R@1 and R@10 by CSLS between captions of one test picture,
mean over the pairs of languages that share no letter: what spelling can't help with.
mr: mean of image-sentence retrieval's R@1, R@5 and R@10 in both directions, over the system's languages.
weights: thousands of learned numbers from tokens to a sentence's embedding.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from evaluation.measures.scores import ALL, PairScore
from evaluation.reports.report import read_tables
from evaluation.suites.sets import available, line_up, read_captions, read_split
from index.encoder.bundle import open_bundle
from index.errors import PassepartoutError
from index.text.languages import language

TRANSLATION = tuple(f"{ranking}_r{k}" for ranking in ("cosine", "csls") for k in (1, 5, 10))
BETWEEN_SCRIPTS = ("scripts_csls_r1", "scripts_csls_r10")
POOL = "positives"
# What a short table of systems shows.
MEASURES = ("cosine_r1", "cosine_r10", "csls_r1", "csls_r10", *BETWEEN_SCRIPTS, POOL)
BY_PICTURES = ("mr", "weights")  # what `measure_pictures` adds
Figures = dict[str, float]
PREFIX = "passepartout: "  # of the line that says what went wrong
DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG, prctl(2)


def train(data: Path, folder: Path, recipe: str, overrides: Iterable[str], threads: int = 0) -> float:
    """Train into FOLDER/run, going on where it was interrupted, and export to FOLDER/bundle; the seconds that
    training took in this call, picture features included."""
    began = time.monotonic()
    train_run(data, folder / "run", recipe, overrides, threads)
    seconds = time.monotonic() - began
    call("export", folder / "run", "--data", data, "--out", folder / "bundle", threads=threads)
    return seconds


def train_run(data: Path, run: Path, recipe: str, overrides: Iterable[str], threads: int = 0) -> None:
    """Train into the folder `run`, going on where it was interrupted; a finished run is left as it is."""
    given = [part for override in overrides for part in ("--set", override)]
    call("train", recipe, "--data", data, "--out", run, "--resume", *given, threads=threads)


def measure(data: Path, folder: Path, languages: str = "") -> Figures:
    """The figures of FOLDER/bundle; leaves the reports beside it."""
    bundle = ("--encoder", folder / "bundle", "--data")
    captions = write_captions(data, folder / "captions", open_bundle(folder / "bundle").manifest.languages)
    call("evaluate", "multi30k", *bundle, data, "--languages", languages, "--out", folder / "multi30k")
    call("evaluate", "photos", *bundle, data, "--out", folder / "photos")
    call("evaluate", "aligned", *bundle, captions, "--out", folder / "scripts")
    means = read_tables(folder / "multi30k")[0].means
    found = {name: means.get(languages, means[ALL])[name] for name in TRANSLATION}
    found |= between_scripts(read_tables(folder / "scripts")[0].pairs)
    found[POOL] = read_tables(folder / "photos")[-1].means[ALL][POOL]
    return {name: round(value, 2) for name, value in found.items()}


def measure_pictures(data: Path, folder: Path) -> Figures:
    """What FOLDER/run and FOLDER/bundle give with the pictures of the test split, and how large they are."""
    pictures = folder / "pictures.safetensors"
    call("pictures", folder / "run", "--data", data, "--out", pictures)
    bundle = ("--encoder", folder / "bundle", "--data", data)
    call("evaluate", "retrieval", *bundle, "--pictures", pictures, "--out", folder / "retrieval")
    result = json.loads((folder / "run" / "result.json").read_text(encoding="utf-8"))
    recall = read_tables(folder / "retrieval")[0].means[ALL]["mr"]
    return {"mr": round(recall, 2), "weights": result["text_weights"] / 1000}


def write_captions(data: Path, folder: Path, codes: Sequence[str]) -> Path:
    """LANG.txt of those of the languages that have captions, others being known by names of drawings alone:
    a caption a test picture, in the same order."""
    codes = available(data / "photos" / "captions", ".tsv", codes, ())
    folder.mkdir(parents=True, exist_ok=True)
    for code, texts in captions_of_test(data, codes).items():
        (folder / f"{code}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    return folder


def captions_of_test(data: Path, codes: Sequence[str], limit: int | None = None) -> dict[str, list[str]]:
    """language -> a caption of each test picture that has one in all of these languages."""
    photos = data / "photos"
    lines = {code: read_captions(photos / "captions" / f"{code}.tsv") for code in codes}
    return line_up(lines, read_split(photos / "splits.tsv", "test"), limit=limit)


def between_scripts(pairs: Sequence[PairScore]) -> Figures:
    """Means over the pairs of languages of two scripts; nothing where there are none."""
    apart = [pair for pair in pairs if language(pair.source).script != language(pair.target).script]
    if not apart:
        return {}
    return {
        f"scripts_{name}": float(np.mean([pair.measures[name] for pair in apart]))
        for name in ("csls_r1", "csls_r10")
    }


def call(*arguments: object, threads: int | None = None) -> None:
    """`passepartout ARGUMENTS`; its progress stays visible, its results are read from files.

    It ends when this process does, even when that is killed: nothing may go on writing into a folder that the
    next run goes on with. Raises PassepartoutError with what the command said when it failed.
    """
    words = [sys.executable, "-P", "-m", "passepartout", *map(str, arguments)]
    env = os.environ | ({"OMP_NUM_THREADS": str(threads)} if threads else {})
    said = ""
    with subprocess.Popen(
        words,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
        preexec_fn=_ends_with(os.getpid()),
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            sys.stderr.write(line)
            said = line.strip() or said
    if process.returncode:
        why = said.removeprefix(PREFIX) if said.startswith(PREFIX) else _ending(process.returncode, said)
        raise PassepartoutError(f"{' '.join(map(str, arguments[:2]))}: {why}")


def _ends_with(parent: int) -> Callable[[], None]:
    """What the child does before it becomes the command: ask the kernel for its end with its parent's."""
    prctl = ctypes.CDLL(None).prctl  # found here: between fork and exec there is no time for the loader

    def ask() -> None:
        prctl(DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:  # which died before the kernel was asked
            os._exit(1)

    return ask


def _ending(code: int, said: str) -> str:
    if code < 0:
        return f"ended by {signal.Signals(-code).name}: repeat the command, with more memory if it is killed"
    return f"exit code {code}: {said}"
