"""One system from recipe to figures, by the real commands: what the benchmarks of recipes share.

The figures of a system, in per cent:
cosine_*, csls_*: R@1 and R@10 among the 1,000 sentences of Multi30k test 2016, mean over the ordered pairs
of the languages asked for. positives: Globetrotter's own measure on captions of 200 test pictures, all
languages of the recipe in one pool. scripts_*: R@1 and R@10 by CSLS between captions of one test picture,
mean over the pairs of languages that share no letter: what spelling can't help with.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.scores import PairScore
from evaluation.sets import line_up, read_captions, read_split
from index.languages import language
from training.recipe import load_recipe

PASSEPARTOUT = Path(sys.executable).parent / "passepartout"
TRANSLATION = ("cosine_r1", "cosine_r10", "csls_r1", "csls_r10")
BETWEEN_SCRIPTS = ("scripts_csls_r1", "scripts_csls_r10")
POOL = "positives"
MEASURES = (*TRANSLATION, *BETWEEN_SCRIPTS, POOL)


def call(*arguments: object, threads: int | None = None) -> None:
    """`passepartout ARGUMENTS`; its progress stays visible, its results are read from files."""
    env = os.environ | ({"OMP_NUM_THREADS": str(threads)} if threads else {})
    subprocess.run([str(PASSEPARTOUT), *map(str, arguments)], check=True, stdout=subprocess.DEVNULL, env=env)


def train(data: Path, folder: Path, recipe: str, settings: Mapping[str, object], threads: int = 0) -> float:
    """Train into FOLDER/run, going on where it was interrupted, and export to FOLDER/bundle; the seconds that
    training took in this call, picture features included."""
    began = time.monotonic()
    given = [part for key, value in settings.items() for part in ("--set", f"{key}={json.dumps(value)}")]
    run = folder / "run"
    call("train", recipe, "--data", data, "--out", run, "--resume", *given, threads=threads)
    seconds = time.monotonic() - began
    call("export", run, "--data", data, "--out", folder / "bundle", threads=threads)
    return seconds


def measure(data: Path, folder: Path, recipe: str, languages: str) -> dict[str, float]:
    """The figures of FOLDER/bundle; leaves the reports beside it."""
    bundle = ("--encoder", folder / "bundle", "--data")
    call("evaluate", "multi30k", *bundle, data, "--languages", languages, "--out", folder / "multi30k")
    call("evaluate", "photos", *bundle, data, "--out", folder / "photos")
    call("evaluate", "aligned", *bundle, write_captions(data, folder / "captions", recipe),
         "--out", folder / "scripts")  # fmt: skip
    means = tables(folder / "multi30k")[0]["means"]
    means = means.get(languages, means["all"])
    found = {name: means[name] for name in TRANSLATION}
    found |= between_scripts([PairScore(**pair) for pair in tables(folder / "scripts")[0]["pairs"]])
    found[POOL] = tables(folder / "photos")[-1]["means"]["all"][POOL]
    return {name: round(value, 2) for name, value in found.items()}


def write_captions(data: Path, folder: Path, recipe: str) -> Path:
    """LANG.txt of the recipe's languages: a caption a test picture, in the same order."""
    folder.mkdir(parents=True, exist_ok=True)
    for code, texts in captions_of_test(data, load_recipe(recipe).data.languages).items():
        (folder / f"{code}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    return folder


def captions_of_test(data: Path, codes: Sequence[str], limit: int | None = None) -> dict[str, list[str]]:
    """language -> a caption of each test picture that has one in all of these languages."""
    photos = data / "photos"
    lines = {code: read_captions(photos / "captions" / f"{code}.tsv") for code in codes}
    return line_up(lines, read_split(photos / "splits.tsv", "test"), limit=limit)


def between_scripts(pairs: Sequence[PairScore]) -> dict[str, float]:
    """Means over the pairs of languages of two scripts."""
    apart = [pair for pair in pairs if language(pair.source).script != language(pair.target).script]
    return {
        f"scripts_{name}": float(np.mean([pair.measures[name] for pair in apart]))
        for name in ("csls_r1", "csls_r10")
    }


def tables(report: Path) -> list[dict[str, Any]]:
    """The tables of a report of `passepartout evaluate`."""
    found: list[dict[str, Any]] = json.loads((report / "report.json").read_text(encoding="utf-8"))["tables"]
    return found


def spread(values: Sequence[float]) -> str:
    """Mean ± standard deviation over seeds; the mean alone of one."""
    mean = f"{np.mean(values):.1f}"
    return f"{mean} ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else mean
