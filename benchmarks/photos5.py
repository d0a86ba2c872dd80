"""The photos-5 task of docs/results.md, whole: train, export and measure, over seeds, through the real commands.

python benchmarks/photos5.py --data DIR --out DIR [--recipe globetrotter-small] [--seeds 3] [--shuffled]

--shuffled is the control: every caption gets another caption's picture, so that what is left is not vision.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import click
import numpy as np

PASSEPARTOUT = Path(sys.executable).parent / "passepartout"
MEASURES = ("cosine_r1", "cosine_r10", "csls_r1", "csls_r10")


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
    table = np.asarray([[row[name] for name in MEASURES] for row in rows])
    summary = {
        name: f"{table[:, i].mean():.1f} ± {table[:, i].std(ddof=min(1, seeds - 1)):.1f}"
        for i, name in enumerate(MEASURES)
    }
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
    report = json.loads((folder / "report" / "report.json").read_text())
    means = report["tables"][0]["means"]
    means = means.get(languages, means["all"])
    return {"seed": seed, "seconds": round(seconds)} | {name: round(means[name], 1) for name in MEASURES}


def call(*arguments: object) -> None:
    subprocess.run([str(PASSEPARTOUT), *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
