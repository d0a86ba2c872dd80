"""Systems over seeds in one table, by the real commands: train, export, evaluate.

    python -m benchmarks.training.ablations --data DIR --out DIR [--systems NAME,...] [--seeds 0,1,2] \\
        [--task photos-11] [--set KEY=VALUE]

A system is a shipped recipe, a recipe with one or two other settings (VARIATIONS), "ridge" or "trigrams",
which have no seed, or one of the groups below, which together have every recipe that a core can train. A
system that begins with another's run begins with the one of its seed, if that is among the systems. Recipes
are made for the task photos-5; with `--task photos-11` they see every caption of eleven languages. The
control is `--set data.shuffle_pictures=true`: every caption gets another caption's picture, so that what is
left is not vision. Give every task and every `--set` an OUT of its own.

What is finished is kept in OUT/NAME/seedN and not done again; OUT/table.md and OUT/results.json are written
anew after every run, so that a long run can be read, and broken off, at any time.
training/papers/systems.py says what is measured.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from evaluation.reports.summary import spread
from index.errors import PassepartoutError
from index.storage.files import replace_text
from training.papers.baselines import measure_ridge, measure_trigrams
from training.papers.systems import BY_PICTURES, MEASURES, Figures, measure, measure_pictures, train
from training.recipes.files import shipped_recipes
from training.recipes.recipe import load_recipe

RIDGE, TRIGRAMS = "ridge", "trigrams"
SEEDLESS = {RIDGE: measure_ridge, TRIGRAMS: measure_trigrams}
# System -> the recipe that it differs from, and how.
VARIATIONS: dict[str, tuple[str, ...]] = {
    "pads-attended": ("globetrotter-mini", "text.attention_mask=false"),  # as in the published code
    "masked-contrastive": ("globetrotter-mini", "objectives.cloze.shared_pass=true"),  # so does that
    "transitive-light": ("globetrotter-mini", "objectives.transitive.weight=0.1"),
    "transitive-rows": ("globetrotter-mini", "objectives.transitive.normalise=rows"),
    "transitive-positives": ("globetrotter-mini", "objectives.transitive.normalise=positives"),
    "alpha-whitened": ("globetrotter-mini", "objectives.transitive.space=whitened"),
    "vocabulary-1000": ("globetrotter-mini", "tokenizer.vocabulary=1000", "text.max_tokens=48"),
    "without-token-dropout": ("globetrotter-small", "text.token_dropout=0.0"),
    "best-without-texts": ("best", "data.texts="),
    "best-apart": ("best", "text.embeddings=per-language"),
    "best-shared": ("best", "text.embeddings=shared"),
    "pseudopairs-small-top25": ("pseudopairs-small", "transfer.filter=top"),
    "pseudopairs-small-bottom25": ("pseudopairs-small", "transfer.filter=bottom"),
    "pseudopairs-small-restart": ("pseudopairs-small", "transfer.then=restart"),
    "pseudopairs-small-mutual": ("pseudopairs-small", "transfer.nearest=mutual"),  # CSLS: their future work
    "pseudopairs-small-translations": ("pseudopairs-small", "transfer.aligned=multi30k_train"),  # a ceiling
    "mule-shared-small-plain": ("mule-small-plain", "data.pictures=shared"),  # the paper's setting
    "mule-shared-small-nc": ("mule-small-nc", "data.pictures=shared"),
    "mule-shared-small-nc-lc": ("mule-small-nc-lc", "data.pictures=shared"),
    "mule-shared-small": ("mule-small", "data.pictures=shared"),
    "smalr-latent-small": ("smalr-hybrid-small", "text.kept=0"),
    "caption-tuning-small-english": ("caption-tuning-small", 'data.rotation=["en"]'),
    # Quechua has captions by machine alone, the others by people alone.
    "caption-tuning-small-quechua": (
        "caption-tuning-small",
        'data.languages=["en","de","pt","zh","ar","qu"]',
        'data.caption_kinds=["human","machine"]',
    ),
    "caption-tuning-small-pivot-quechua": (
        "caption-tuning-small-pivot",
        'data.languages=["en","de","pt","zh","ar","qu"]',
        'data.caption_kinds=["human","machine"]',
    ),
}
PSEUDOPAIR_START = "pseudopairs-start-small"  # what the systems of Kádár et al. begin with
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
    "vocabulary-1000",
    "bag-of-subwords",
    "globetrotter-small",
    "without-visual-regression",
    "without-token-dropout",
)
CLAIMS = (  # what the claims of the other four papers are about
    PSEUDOPAIR_START,
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
    PSEUDOPAIR_START,
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
    "caption-tuning-small-pivot-quechua",
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


@dataclass(frozen=True)
class Trial:
    """How every system is trained and measured; `start` is the folder of the runs that others begin with."""

    data: Path
    out: Path
    settings: tuple[str, ...]
    languages: str
    threads: int
    start: Path | None

    def figures(self, name: str, seed: int) -> Figures:
        """The figures of a system and a seed: those in its folder, or taken now."""
        folder = self.out / name / f"seed{seed}"
        kept = folder / "figures.json"
        if kept.is_file():
            return read_figures(kept)
        folder.mkdir(parents=True, exist_ok=True)
        if name in SEEDLESS:
            figures = SEEDLESS[name](self.data, self.languages.split(","))
        else:
            figures = self._train(folder, name, seed)
        replace_text(kept, json.dumps(figures) + "\n")
        return figures

    def _train(self, folder: Path, name: str, seed: int) -> Figures:
        recipe, *variation = VARIATIONS.get(name, (name,))
        settings = [f"name={name}", *variation, *self.settings, f"seed={seed}"]
        if self.start and load_recipe(recipe, settings).transfer:
            run = self.start / f"seed{seed}" / "run"
            settings.append(f"transfer.start={json.dumps(str(run.resolve()))}")
        train(self.data, folder, recipe, settings, self.threads)
        result = json.loads((folder / "run" / "result.json").read_text(encoding="utf-8"))
        figures = measure(self.data, folder, self.languages) | measure_pictures(self.data, folder)
        return figures | {"seconds": float(result["seconds"])}


@click.command()
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--systems", default="fig-3", show_default=True)
@click.option("--seeds", default="0,1,2", show_default=True)
@click.option("--task", type=click.Choice(list(TASKS)), default="photos-5", show_default=True)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Of every recipe; repeatable.")
@click.option("--threads", default=1, show_default=True)
def main(
    data: Path, out: Path, systems: str, seeds: str, task: str, overrides: tuple[str, ...], threads: int
) -> None:
    """Seed by seed, so that a first table of all systems is there early."""
    names = list(dict.fromkeys(name for part in systems.split(",") for name in GROUPS.get(part, (part,))))
    numbers = [int(seed) for seed in seeds.split(",")]
    unknown = set(names) - {*SEEDLESS, *VARIATIONS, *shipped_recipes()}
    if unknown:
        raise click.UsageError(f"no system {', '.join(sorted(unknown))}")
    task_settings, languages = TASKS[task]
    settings = (*task_settings, f"run.threads={threads}", *overrides)
    trial = Trial(
        data, out, settings, languages, threads, out / PSEUDOPAIR_START if PSEUDOPAIR_START in names else None
    )
    failed = False
    for seed in numbers:
        for name in names:
            if name not in SEEDLESS or seed == numbers[0]:
                try:
                    figures = trial.figures(name, seed)
                except PassepartoutError as error:  # the others are worth having
                    click.echo(f"{name} {seed} failed: {error}", err=True)
                    failed = True
                    continue
                click.echo(f"{name} {seed} {json.dumps(figures)}")
                write_table(out, names)
    sys.exit(failed)


def write_table(out: Path, names: Sequence[str]) -> None:
    """OUT/table.md and OUT/results.json of all that is finished."""
    rows = {
        name: [read_figures(file) for file in sorted((out / name).glob("seed*/figures.json"))]
        for name in names
    }
    replace_text(out / "results.json", json.dumps(rows, indent=1) + "\n")
    replace_text(out / "table.md", "\n".join(as_table(rows)) + "\n")


def as_table(rows: dict[str, list[Figures]]) -> list[str]:
    """A line a system: mean ± standard deviation over its seeds, per cent; the seconds of training."""
    columns = (*MEASURES, *BY_PICTURES, "seconds")
    lines = [f"| system | seeds | {' | '.join(columns)} |", "|---" * (len(columns) + 2) + "|"]
    for name, seeds in rows.items():
        if seeds:
            cells = [
                spread([figures[column] for figures in seeds if column in figures]) for column in columns
            ]
            lines.append(f"| {name} | {len(seeds)} | {' | '.join(cells)} |")
    return lines


def read_figures(file: Path) -> Figures:
    figures: Figures = json.loads(file.read_text(encoding="utf-8"))
    return figures


if __name__ == "__main__":
    main()
