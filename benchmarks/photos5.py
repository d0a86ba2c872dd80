"""The photos-5 task of docs/results.md, whole: train, export, measure, over seeds, by the real commands.

python benchmarks/photos5.py --data DIR --out DIR [--recipe globetrotter-small] [--seeds 3] [--shuffled]

--shuffled is the control: every caption gets another caption's picture, so that what is left is not vision.
What is left between languages of one script is spelling, which they share; hence `scripts_*`: the same
measures on captions of the test pictures, mean over the pairs of languages that share no letter.
"""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from evaluation.sets import line_up, read_captions, read_split
from index.languages import language
from training.recipe import load_recipe

PASSEPARTOUT = Path(sys.executable).parent / "passepartout"
MEASURES = ("cosine_r1", "cosine_r10", "csls_r1", "csls_r10")
BETWEEN_SCRIPTS = ("scripts_csls_r1", "scripts_csls_r10")


@click.command()
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--recipe", default="globetrotter-small", show_default=True)
@click.option("--languages", default="en,de,pt", show_default=True)
@click.option("--seeds", default=3, show_default=True)
@click.option("--shuffled", is_flag=True)
def main(data: Path, out: Path, recipe: str, languages: str, seeds: int, shuffled: bool) -> None:
    """Print a line a seed, then mean and spread; OUT/results.json holds the same."""
    rows = []
    for seed in range(seeds):
        rows.append(one_seed(data, out / f"seed{seed}", recipe, languages, seed, shuffled))
        click.echo(json.dumps(rows[-1]))
    summary = {name: _spread([row[name] for row in rows]) for name in (*MEASURES, *BETWEEN_SCRIPTS)}
    click.echo(json.dumps({"mean ± standard deviation": summary}, ensure_ascii=False))
    (out / "results.json").write_text(json.dumps({"rows": rows, "summary": summary}, indent=1) + "\n")


def one_seed(
    data: Path, folder: Path, recipe: str, languages: str, seed: int, shuffled: bool
) -> dict[str, float]:
    """Means over the ordered pairs, in per cent, and the seconds that training took, features included."""
    began = time.monotonic()
    call("train", recipe, "--data", data, "--out", folder / "run", "--resume", "--set", f"seed={seed}",
         "--set", f"data.shuffle_pictures={str(shuffled).lower()}")  # fmt: skip
    seconds = time.monotonic() - began
    call("export", folder / "run", "--data", data, "--out", folder / "bundle")
    call("evaluate", "multi30k", "--encoder", folder / "bundle", "--data", data, "--languages", languages,
         "--out", folder / "report")  # fmt: skip
    means = _table(folder / "report")["means"]
    means = means.get(languages, means["all"])
    found = {name: round(means[name], 1) for name in MEASURES} | between_scripts(data, folder, recipe)
    return {"seed": seed, "seconds": round(seconds)} | found


def between_scripts(data: Path, folder: Path, recipe: str) -> dict[str, float]:
    """Retrieval between test captions of a picture, mean over the pairs of languages of two scripts."""
    photos, captions = data / "photos", folder / "captions"
    codes = load_recipe(recipe).data.languages
    lines = {code: read_captions(photos / "captions" / f"{code}.tsv") for code in codes}
    captions.mkdir(exist_ok=True)
    for code, texts in line_up(lines, read_split(photos / "splits.tsv", "test")).items():
        (captions / f"{code}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    call(
        "evaluate", "aligned", "--encoder", folder / "bundle", "--data", captions, "--out", folder / "scripts"
    )
    pairs = [
        pair["measures"]
        for pair in _table(folder / "scripts")["pairs"]
        if language(pair["source"]).script != language(pair["target"]).script
    ]
    names = zip(BETWEEN_SCRIPTS, ("csls_r1", "csls_r10"), strict=True)
    return {name: round(float(np.mean([pair[of] for pair in pairs])), 1) for name, of in names}


def _table(report: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((report / "report.json").read_text(encoding="utf-8"))["tables"][0]
    return found


def _spread(values: Sequence[float]) -> str:
    return f"{np.mean(values):.1f} ± {np.std(values, ddof=min(1, len(values) - 1)):.1f}"


def call(*arguments: object) -> None:
    subprocess.run([str(PASSEPARTOUT), *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
