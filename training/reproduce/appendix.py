"""Globetrotter's appendix A as steps: `passepartout add-language` and `passepartout experiment`, measured."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from evaluation.experiments import Experiment, Outcome, Run, Step
from evaluation.report import NAMES
from index.errors import DamagedError
from training.recipe import Recipe, load_recipe
from training.reproduce.commands import call
from training.reproduce.study import Planned, Study
from training.reproduce.systems import Figures, train_run

ADDED = Experiment(
    "new-language",
    "A new language in one epoch (A.2)",
    "The last of the recipe's languages is held out with its share of the pictures, and added to the "
    "finished run from its captions alone. Validation captions; all sets: work/STEP/added/report.",
    headline="to the new one, CSLS R@10",
)
GROWN = {"best": 14.0, "globetrotter-mini": 10.0}  # systems, and about how many minutes each takes
SET = "validation captions"
SHOWN = ("csls_r10", "positives")


def appendix(study: Study, seed: int) -> Iterator[Planned]:
    """The steps of one seed."""
    for system, minutes in GROWN.items():
        yield _added(study, system, minutes, seed)


def _added(study: Study, system: str, minutes: float, seed: int) -> Planned:
    step = Step(ADDED, system, minutes, _add(study, system, seed), seed)
    return Planned(step, lambda: without_last(study, system, seed)[1])


def _add(study: Study, system: str, seed: int) -> Run:
    def run(folder: Path, needed: Mapping[str, Path]) -> Outcome:
        overrides, recipe = without_last(study, system, seed)
        train_run(study.data, folder / "run", system, overrides)
        language, added = recipe.data.held_out[0], folder / "added"
        shutil.rmtree(added, ignore_errors=True)  # of a run that was interrupted here: it takes a minute
        call("add-language", folder / "run", language, "--data", study.data, "--out", added)
        return Outcome(measures=costs(added / "report", language))

    return run


def without_last(study: Study, system: str, seed: int) -> tuple[tuple[str, ...], Recipe]:
    """The overrides that hold the last language of a recipe out, and the recipe that they make of it."""
    codes = study.recipe(system, seed).data.languages
    held = (f"data.languages={json.dumps(codes[:-1])}", f"data.held_out={json.dumps(codes[-1:])}")
    overrides = (*study.settings(seed), *held)
    return overrides, load_recipe(system, overrides)


def costs(report: Path, language: str) -> Figures:
    """What `add-language` measured on validation captions: the languages there were, before and after, and
    the new one."""
    path = report / "report.json"
    groups = {
        "the others before": ("the other languages", "before"),
        "the others after": ("the other languages", "after"),
        "from the new one": (f"from {language}", "after"),
        "to the new one": (f"to {language}", "after"),
    }
    try:
        means = json.loads(path.read_text("utf-8"))["sets"][SET]["means"]
        return {
            f"{title}, {NAMES[key]}": float(means[group][when][key])
            for key in SHOWN
            for title, (group, when) in groups.items()
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"{path}: no report of add-language: repeat the command") from error
