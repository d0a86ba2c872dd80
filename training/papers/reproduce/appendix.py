"""Lists the steps of Globetrotter's appendix A, by `passepartout add-language` and `experiment`."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from evaluation.reports.experiments import Experiment, Outcome, Step
from evaluation.reports.report import NAMES
from index.errors import DamagedError
from training.papers.reproduce.study import Planned, Study
from training.papers.reproduce.systems import Figures, call, train_run
from training.recipes.recipe import Recipe, load_recipe

ADDED = Experiment(
    "new-language",
    "A new language in one epoch (A.2)",
    "The last of the recipe's languages is held out with its share of the pictures, and added to the "
    "finished run from its captions alone. Validation captions; all sets: work/STEP/added/report.",
    headline="to the new one, CSLS R@10",
)
_CORRESPONDENCE_NOTE = (
    "Captions of test pictures cut in two: does the second half belong to the first? A small head over "
    "frozen token states learns from half of the languages and is tested on all; chance is 50."
)
CORRESPONDENCE = Experiment(
    "correspondence", "Sentence correspondence (A.1)", _CORRESPONDENCE_NOTE, headline="unseen languages"
)
CORRESPONDENCE_ADDED = Experiment(
    "correspondence-added",
    "Sentence correspondence, with a language added later (A.1, table 7)",
    f"{_CORRESPONDENCE_NOTE} Added later: the language that A.2 adds, tested with the same head.",
    headline="language added later",
)
CLUSTERS = Experiment(
    "clusters",
    "Clusters, by meaning or by language (A.4)",
    "k-means of captions of test pictures: purity and entropy of languages within a cluster (high purity: "
    "clusters by language), and how often captions of one picture in two languages share one. By chance: "
    "labels dealt anew. What is in them: work/STEP/report.md.",
    headline="one picture together, %",
)
WRITING = Experiment(
    "generation",
    "Generation from sentence vectors (A.5)",
    "A small GPT-2 learns to write the first language from its sentence vectors, then writes from those of "
    "the others; means over these. The control reads another sentence's vector. Examples: STEP's report.",
    headline="chrF",
)
EXTENDED = {"best": 14.0, "globetrotter-mini": 10.0}  # system -> approximate minutes
PROBED = ("best", "globetrotter-mini", "supervised", "text-only")
CLUSTER_MEASURES = {
    "purity": "purity, %",
    "entropy": "entropy, bits",
    "information": "information",
    "together": "one picture together, %",
}
COST_SET = "validation captions"
COST_MEASURES = ("csls_r10", "positives")


def appendix(study: Study, trained: Experiment, seed: int) -> Iterator[Planned]:
    """List the steps of one seed; `trained` is the experiment whose steps trained the systems."""
    for system in PROBED:
        for experiment in (CORRESPONDENCE, CLUSTERS):
            yield _measured(study, experiment, f"{trained.name}.{system}.{seed}", system, seed)
    for system, minutes in EXTENDED.items():
        yield _added(study, system, minutes, seed)
        yield _measured(study, CORRESPONDENCE_ADDED, f"{ADDED.name}.{system}.{seed}", system, seed)
        yield _measured(study, WRITING, f"{trained.name}.{system}.{seed}", system, seed)


def _measured(study: Study, experiment: Experiment, trained: str, system: str, seed: int) -> Planned:
    """The step that runs an experiment's command on what the step named `trained` left."""
    command = COMMANDS[experiment]

    def run(folder: Path, needed: Mapping[str, Path]) -> Outcome:
        options = command.options(needed[trained], study.recipe(system, seed))
        call("experiment", command.name, *options, "--data", study.data, "--seed", seed, "--out", folder)
        return Outcome(measures=command.read(folder))

    step = Step(experiment, system, command.minutes, run, seed, needs=(trained,))
    return Planned(step, lambda: study.recipe(system, seed))


def clusters(report: Path) -> Figures:
    """Read the measures of the first encoder of `experiment clusters`, each with the value by chance."""
    with _read(report) as facts:
        system = facts["systems"][0]
        return {
            title + when: float(system[part][key])
            for key, title in CLUSTER_MEASURES.items()
            for part, when in (("measures", ""), ("expected", " by chance"))
        }


def generation(report: Path) -> Figures:
    """Read the scores of `experiment generate`, mean over all languages but the one written."""
    titles = dict(chrf="chrF", control_chrf="chrF, control", bleu="BLEU", control_bleu="BLEU, control")
    with _read(report) as facts:
        scores = [language for code, language in facts["languages"].items() if code != facts["target"]]
        return {title: float(mean(language[key] for language in scores)) for key, title in titles.items()}


def correspondence(report: Path) -> Figures:
    """Read the accuracies of `experiment correspondence`, per cent."""
    with _read(report) as facts:
        (system,) = facts["systems"]
        figures = {"seen languages": system["seen"], "unseen languages": system["unseen"]}
        figures |= {"relative decrease": system["relative_decrease"]}
        if system["added"]:
            figures["language added later"] = mean(system["added"].values())
        return {name: float(value) for name, value in figures.items() if value is not None}


def _added(study: Study, system: str, minutes: float, seed: int) -> Planned:
    """The step that trains a system without its last language and adds that."""

    def run(folder: Path, needed: Mapping[str, Path]) -> Outcome:
        overrides, recipe = without_last(study, system, seed)
        train_run(study.data, folder / "run", system, overrides)
        language, added = recipe.data.held_out[0], folder / "added"
        shutil.rmtree(added, ignore_errors=True)  # left by an interrupted run; adding takes a minute
        call("add-language", folder / "run", language, "--data", study.data, "--out", added)
        return Outcome(measures=costs(added / "report", language))

    step = Step(ADDED, system, minutes, run, seed)
    return Planned(step, lambda: without_last(study, system, seed)[1])


def without_last(study: Study, system: str, seed: int) -> tuple[tuple[str, ...], Recipe]:
    """Hold out the last language of a recipe; the overrides that do it, and the recipe with them."""
    codes = study.recipe(system, seed).data.languages
    held = (f"data.languages={json.dumps(codes[:-1])}", f"data.held_out={json.dumps(codes[-1:])}")
    overrides = (*study.settings(seed), *held)
    return overrides, load_recipe(system, overrides)


def costs(report: Path, language: str) -> Figures:
    """Read the measures of `add-language` on validation captions: the old languages before and after, and the
    new one."""
    groups = {
        "the others before": ("the other languages", "before"),
        "the others after": ("the other languages", "after"),
        "from the new one": (f"from {language}", "after"),
        "to the new one": (f"to {language}", "after"),
    }
    with _read(report) as facts:
        means = facts["sets"][COST_SET]["means"]
        return {
            f"{title}, {NAMES[key]}": float(means[group][when][key])
            for key in COST_MEASURES
            for title, (group, when) in groups.items()
        }


@contextmanager
def _read(report: Path) -> Iterator[dict[str, Any]]:
    """Read report.json of an experiment; DamagedError if it, or a key read within, is missing or bad."""
    path = report / "report.json"
    try:
        yield json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"{path}: no report of this experiment: repeat the command") from error


@dataclass(frozen=True)
class Command:
    """`passepartout experiment NAME` as a step: its approximate minutes, options, and report reader.

    options: the folder of the step that trained the system, and the system's recipe -> command-line options.
    """

    name: str
    minutes: float
    options: Callable[[Path, Recipe], Sequence[object]]
    read: Callable[[Path], Figures]


COMMANDS = {
    CORRESPONDENCE: Command(
        "correspondence", 3, lambda trained, recipe: ("--encoder-run", trained / "run"), correspondence
    ),
    CORRESPONDENCE_ADDED: Command(
        "correspondence",
        3,
        lambda trained, recipe: ("--encoder-run", trained / "run", "--adapted", trained / "added"),
        correspondence,
    ),
    CLUSTERS: Command("clusters", 3, lambda trained, recipe: ("--encoder", trained / "bundle"), clusters),
    WRITING: Command(
        "generate",
        10,
        lambda trained, recipe: ("--encoder", trained / "bundle", "--target", recipe.data.languages[0]),
        generation,
    ),
}
