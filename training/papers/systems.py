"""Trains and measures one system by the real commands, for `reproduce` and the benchmarks.

The figures of a system, in per cent:
cosine_*, csls_*: R@1, R@5 and R@10 among the 1,000 sentences of Multi30k test 2016, mean over the ordered
pairs of the languages to compare. positives: Globetrotter's own measure on captions of 200 test pictures, all
languages of the system in one pool. scripts_*: R@1 and R@10 by CSLS between captions of one test picture,
mean over the pairs of languages without a common script, where spelling can't help.
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

from evaluation.measures.scores import ALL_PAIRS, PairScore, Table
from evaluation.reports.report import read_tables
from evaluation.suites.translation import ONE_POOL
from index.encoder.bundle import open_bundle
from index.errors import PassepartoutError
from index.languages import language
from training.papers.frozen import photo_captions

TRANSLATION_MEASURES = tuple(f"{ranking}_r{k}" for ranking in ("cosine", "csls") for k in (1, 5, 10))
BETWEEN_SCRIPTS = ("scripts_csls_r1", "scripts_csls_r10")
POOL_MEASURE = "positives"
# The columns of a short table of systems.
MEASURES = ("cosine_r1", "cosine_r10", "csls_r1", "csls_r10", *BETWEEN_SCRIPTS, POOL_MEASURE)
BY_PICTURES = ("mr", "weights")  # what `measure_pictures` adds
Figures = dict[str, float]
ERROR_PREFIX = "passepartout: "  # of the command's error line
PR_SET_PDEATHSIG = 1  # prctl(2)


def train(data: Path, folder: Path, recipe: str, overrides: Iterable[str], threads: int = 0) -> float:
    """Train into FOLDER/run, resuming an interrupted run, and export to FOLDER/bundle.

    Returns the seconds that training took in this call, picture features included.
    """
    began = time.monotonic()
    train_run(data, folder / "run", recipe, overrides, threads)
    seconds = time.monotonic() - began
    call("export", folder / "run", "--data", data, "--out", folder / "bundle", threads=threads)
    return seconds


def train_run(data: Path, run: Path, recipe: str, overrides: Iterable[str], threads: int = 0) -> None:
    """Train into the folder `run`, resuming an interrupted run; a finished one is left as it is."""
    options = [part for override in overrides for part in ("--set", override)]
    call("train", recipe, "--data", data, "--out", run, "--resume", *options, threads=threads)


def measure(data: Path, folder: Path, languages: str = "") -> Figures:
    """Measure FOLDER/bundle, in FOLDER/multi30k, photos and scripts; `languages`: an option of `evaluate`."""
    bundle = ("--encoder", folder / "bundle", "--data")
    captions = write_captions(data, folder / "captions", open_bundle(folder / "bundle").manifest.languages)
    call("evaluate", "multi30k", *bundle, data, "--languages", languages, "--out", folder / "multi30k")
    call("evaluate", "photos", *bundle, data, "--out", folder / "photos")
    call("evaluate", "aligned", *bundle, captions, "--out", folder / "scripts")
    means = read_tables(folder / "multi30k")[0].means
    figures = {name: means.get(languages, means[ALL_PAIRS])[name] for name in TRANSLATION_MEASURES}
    figures |= between_scripts(read_tables(folder / "scripts")[0].pairs)
    figures[POOL_MEASURE] = read_pool(folder / "photos").means[ALL_PAIRS][POOL_MEASURE]
    return {name: round(value, 2) for name, value in figures.items()}


def read_pool(report: Path) -> Table:
    """Read the table of captions in one pool from a report of the suite `photos`."""
    return next(table for table in read_tables(report) if table.name == ONE_POOL)


def measure_pictures(data: Path, folder: Path) -> Figures:
    """Measure retrieval between sentences and test pictures by FOLDER/run, and count its weights."""
    pictures = folder / "pictures.safetensors"
    call("pictures", folder / "run", "--data", data, "--out", pictures)
    bundle = ("--encoder", folder / "bundle", "--data", data)
    call("evaluate", "retrieval", *bundle, "--pictures", pictures, "--out", folder / "retrieval")
    result = json.loads((folder / "run" / "result.json").read_text(encoding="utf-8"))
    recall = read_tables(folder / "retrieval")[0].means[ALL_PAIRS]["mr"]
    return {"mr": round(recall, 2), "weights": result["text_weights"] / 1000}


def write_captions(data: Path, folder: Path, codes: Sequence[str]) -> Path:
    """Write LANG.txt, a caption for each test picture in the same order, for those of `codes` with captions;
    a language may have only names of pictograms. Returns `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for code, texts in photo_captions(data, "test", codes).items():
        (folder / f"{code}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    return folder


def between_scripts(pairs: Sequence[PairScore]) -> Figures:
    """Mean CSLS R@1 and R@10 over the pairs of languages in different scripts; empty without such pairs."""
    crossing = [pair for pair in pairs if language(pair.source).script != language(pair.target).script]
    if not crossing:
        return {}
    return {
        f"scripts_{name}": float(np.mean([pair.measures[name] for pair in crossing]))
        for name in ("csls_r1", "csls_r10")
    }


def call(*arguments: object, threads: int | None = None) -> None:
    """Run `passepartout ARGUMENTS`; its progress stays visible, its results are read from files.

    The command is killed when this process ends, even by SIGKILL: it must not write into a folder that the
    next run resumes in. Raises PassepartoutError with the command's last line if it fails.
    """
    words = [sys.executable, "-P", "-m", "passepartout", *map(str, arguments)]
    env = os.environ | ({"OMP_NUM_THREADS": str(threads)} if threads else {})
    last_line = ""
    with subprocess.Popen(
        words,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
        preexec_fn=_die_with(os.getpid()),
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            sys.stderr.write(line)
            last_line = line.strip() or last_line
    if process.returncode:
        reported = last_line.startswith(ERROR_PREFIX)
        reason = last_line.removeprefix(ERROR_PREFIX) if reported else _ending(process.returncode, last_line)
        raise PassepartoutError(f"{' '.join(map(str, arguments[:2]))}: {reason}")


def _die_with(parent: int) -> Callable[[], None]:
    """A function for the child to call before exec: it asks the kernel to kill it when `parent` ends."""
    prctl = ctypes.CDLL(None).prctl  # loaded here, since the loader is not safe between fork and exec

    def ask() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent ended before the call
            os._exit(1)

    return ask


def _ending(code: int, last_line: str) -> str:
    """How a command ended that reported no error of its own."""
    if code < 0:
        return f"ended by {signal.Signals(-code).name}: repeat the command, with more memory if it is killed"
    return f"exit code {code}: {last_line}"
