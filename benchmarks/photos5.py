"""The photos-5 task of docs/results.md, whole: train, export, measure, over seeds, by the real commands.

python benchmarks/photos5.py --data DIR --out DIR [--recipe globetrotter-small] [--seeds 3] [--shuffled]

--shuffled is the control: every caption gets another caption's picture, so that what is left is not vision.
What is left between languages of one script is spelling, which they share; hence the measures `scripts_*`.
benchmarks/systems.py says what is measured.
"""

import json
from pathlib import Path

import click
from systems import MEASURES, measure, spread, train


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
        folder = out / f"seed{seed}"
        seconds = train(data, folder, recipe, {"seed": seed, "data.shuffle_pictures": shuffled})
        found = measure(data, folder, recipe, languages)
        rows.append({"seed": seed, "seconds": round(seconds), **found})
        click.echo(json.dumps(rows[-1]))
    summary = {name: spread([row[name] for row in rows]) for name in MEASURES}
    click.echo(json.dumps({"mean ± standard deviation": summary}, ensure_ascii=False))
    (out / "results.json").write_text(json.dumps({"rows": rows, "summary": summary}, indent=1) + "\n")


if __name__ == "__main__":
    main()
