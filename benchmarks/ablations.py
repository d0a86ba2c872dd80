"""Globetrotter's Fig. 3 and the other papers' claims: ablations and baselines over seeds, in one table.

python -m benchmarks.ablations --data DIR --out DIR [--systems NAME,...] [--seeds 0,1,2] [--task photos-11]

A system is a shipped recipe, "ridge" or "trigrams" (training/reproduce/), which have no seed, or one of the
groups below, which together have every recipe that a core can train. A system that begins with another's run
begins with the one of its seed, if that is among the systems. Recipes are made for the task photos-5; with
`--task photos-11` they see every caption of eleven languages: give it an OUT of its own. What is finished is
kept in OUT/NAME/seedN and not done again; OUT/table.md and OUT/results.json are written anew after every run,
so that a long run can be read, and broken off, at any time. training/papers/reproduce/systems.py says what is
measured.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from evaluation.reports.summary import spread
from index.errors import PassepartoutError
from index.storage.files import replace_text
from training.papers.reproduce.ridge import measure_ridge
from training.papers.reproduce.systems import BY_PICTURES, MEASURES, measure, measure_pictures, train
from training.papers.reproduce.trigrams import measure_trigrams
from training.recipes.files import shipped_recipes
from training.recipes.recipe import load_recipe

RIDGE, TRIGRAMS = "ridge", "trigrams"
SEEDLESS = {RIDGE: measure_ridge, TRIGRAMS: measure_trigrams}
START = "pseudopairs-start-small"  # what the systems of Kádár et al. begin with
FIG_3 = (
    TRIGRAMS,
    "globetrotter-mini",
    "without-transitive",
    "without-visual-contrastive",
    "without-cross-modal",
    "without-cloze",
    "without-alpha-x",
    "text-only",
    "lample-conneau",
    "sigurdsson",
    RIDGE,
    "supervised",
    "pads-attended",
    "masked-contrastive",
    "transitive-light",
    "transitive-rows",
    "transitive-positives",
    "alpha-whitened",
    "subword-dropout",
    "vocabulary-1000",
    "bag-of-subwords",
    "globetrotter-small",
    "without-visual-regression",
    "without-token-dropout",
)
CLAIMS = (  # what the claims of the other four papers are about
    START,
    "pseudopairs-small",
    "mule-small-plain",
    "mule-small-nc",
    "mule-small-nc-lc",
    "mule-small",
    "smalr-full-small",
    "smalr-hybrid-small",
    "caption-tuning-small",
    "caption-tuning-small-english",
)
VARIANTS = (  # other ways that these papers name, beside what they vary
    START,
    "pseudopairs-small",
    "pseudopairs-small-top25",
    "pseudopairs-small-bottom25",
    "pseudopairs-small-restart",
    "pseudopairs-small-mutual",
    "pseudopairs-small-c2c",
    "pseudopairs-small-translations",
    "aligned-small",
    "mule-shared-small-plain",
    "mule-shared-small-nc",
    "mule-shared-small-nc-lc",
    "mule-shared-small",
    "smalr-hybrid-small",
    "smalr-latent-small",
    "smalr-small",
    "caption-tuning-small",
    "caption-tuning-small-pivot",
    "caption-tuning-small-quechua",
)
JOINED = (  # what joins the papers, and what its parts are worth
    TRIGRAMS,
    "globetrotter-small",
    "best-without-mining",
    "best-without-texts",
    "best-without-halves",
    "best-apart",
    "best-shared",
    "best",
    "united",
)
PHOTOS_11 = (  # made for eleven languages: `--task photos-11`
    "best-photos-11",
    "best-photos-11-pictograms",
    "united-photos-11",
    "supervised-photos-11-common",
    "supervised-photos-11-balanced",
    "supervised-photos-11",
)
GROUPS = {"fig-3": FIG_3, "claims": CLAIMS, "variants": VARIANTS, "joined": JOINED, "photos-11": PHOTOS_11}
# task -> what it sets in a recipe, and the languages of Multi30k that it is tested on
ELEVEN = load_recipe("best-photos-11").data.languages
TASKS: dict[str, tuple[tuple[str, ...], str]] = {
    "photos-5": ((), "en,de,pt"),
    "photos-11": ((f"data.languages={json.dumps(ELEVEN)}", "data.caption_kinds=[]"), "en,de,pt,fr,cs"),
}
Row = dict[str, float]


@click.command()
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--systems", default="fig-3", show_default=True)
@click.option("--seeds", default="0,1,2", show_default=True)
@click.option("--task", type=click.Choice(list(TASKS)), default="photos-5", show_default=True)
@click.option("--threads", default=1, show_default=True)
def main(data: Path, out: Path, systems: str, seeds: str, task: str, threads: int) -> None:
    """Seed by seed, so that a first table of all systems is there early."""
    names = list(dict.fromkeys(name for part in systems.split(",") for name in GROUPS.get(part, (part,))))
    numbers = [int(seed) for seed in seeds.split(",")]
    unknown = set(names) - {*SEEDLESS, *shipped_recipes()}
    if unknown:
        raise click.UsageError(f"no recipe {', '.join(sorted(unknown))}")
    failed = False
    for seed in numbers:
        for name in names:
            if name not in SEEDLESS or seed == numbers[0]:
                try:
                    start = out / START / f"seed{seed}" / "run" if START in names else None
                    row = one_run(data, out / name / f"seed{seed}", name, seed, task, threads, start)
                except PassepartoutError as error:  # the others are worth having
                    click.echo(f"{name} {seed} failed: {error}", err=True)
                    failed = True
                    continue
                click.echo(f"{name} {seed} {json.dumps(row)}")
                write_table(out, names)
    sys.exit(failed)


def one_run(
    data: Path, folder: Path, name: str, seed: int, task: str, threads: int, start: Path | None
) -> Row:
    """The figures of a system and a seed: those in its folder, or found now."""
    kept = folder / "figures.json"
    if kept.is_file():
        found: Row = json.loads(kept.read_text(encoding="utf-8"))
        return found
    folder.mkdir(parents=True, exist_ok=True)
    task_settings, languages = TASKS[task]
    if name in SEEDLESS:
        found = SEEDLESS[name](data, languages.split(","))
    else:
        settings = [*task_settings, f"seed={seed}", f"run.threads={threads}"]
        if start and load_recipe(name).transfer:
            settings.append(f"transfer.start={json.dumps(str(start.resolve()))}")
        train(data, folder, name, settings, threads)
        found = measure(data, folder, languages) | measure_pictures(data, folder)
        result = json.loads((folder / "run" / "result.json").read_text(encoding="utf-8"))
        found["seconds"] = float(result["seconds"])
    replace_text(kept, json.dumps(found) + "\n")
    return found


def write_table(out: Path, names: Sequence[str]) -> None:
    """OUT/table.md and OUT/results.json of all that is finished."""
    rows = {name: [_read(file) for file in sorted((out / name).glob("seed*/figures.json"))] for name in names}
    replace_text(out / "results.json", json.dumps(rows, indent=1) + "\n")
    replace_text(out / "table.md", "\n".join(as_table(rows)) + "\n")


def as_table(rows: dict[str, list[Row]]) -> list[str]:
    """A line a system: mean ± standard deviation over its seeds, per cent; the seconds of training."""
    columns = (*MEASURES, *BY_PICTURES, "seconds")
    lines = [f"| system | seeds | {' | '.join(columns)} |", "|---" * (len(columns) + 2) + "|"]
    for name, found in rows.items():
        if found:
            cells = [spread([row[of] for row in found if of in row]) for of in columns]
            lines.append(f"| {name} | {len(found)} | {' | '.join(cells)} |")
    return lines


def _read(file: Path) -> Row:
    found: Row = json.loads(file.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    main()
