"""The photos-5 task of docs/results.md, whole: train, export, measure, over seeds, by the real commands.

python -m benchmarks.photos5 --data DIR --out DIR [--recipe globetrotter-small] [--seeds 3] [--shuffled] \\
    [--set KEY=VALUE]

The task photos-11: --recipe best-photos-11 --languages en,de,pt,fr,cs (supervised-photos-11 is its ceiling).
--shuffled is the control: every caption gets another caption's picture, so that what is left is not vision.
What is left between languages of one script is spelling, which they share; hence the measures `scripts_*`.
training/papers/reproduce/systems.py says what is measured.
"""

import json
from pathlib import Path

import click

from evaluation.reports.summary import spread
from training.papers.reproduce.systems import MEASURES, measure, train


@click.command()
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--recipe", default="globetrotter-small", show_default=True)
@click.option("--languages", default="en,de,pt", show_default=True)
@click.option("--seeds", default=3, show_default=True)
@click.option("--shuffled", is_flag=True)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Of the recipe, for every seed.")
def main(
    data: Path,
    out: Path,
    recipe: str,
    languages: str,
    seeds: int,
    shuffled: bool,
    overrides: tuple[str, ...],
) -> None:
    """Print a line a seed, then mean and spread; OUT/results.json holds the same."""
    rows = []
    for seed in range(seeds):
        folder = out / f"seed{seed}"
        settings = (*overrides, f"seed={seed}", f"data.shuffle_pictures={json.dumps(shuffled)}")
        seconds = train(data, folder, recipe, settings)
        found = measure(data, folder, languages)
        rows.append({"seed": seed, "seconds": round(seconds), **found})
        click.echo(json.dumps(rows[-1]))
    summary = {name: spread([row[name] for row in rows]) for name in MEASURES if name in rows[0]}
    click.echo(json.dumps({"mean ± standard deviation": summary}, ensure_ascii=False))
    (out / "results.json").write_text(json.dumps({"rows": rows, "summary": summary}, indent=1) + "\n")


if __name__ == "__main__":
    main()
