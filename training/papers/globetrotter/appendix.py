"""Lists the steps of Globetrotter's appendix A, by `passepartout experiment`."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.reports.experiments import Experiment, Outcome, Step
from index.errors import DamagedError
from training.papers.globetrotter.study import Planned, Study
from training.papers.systems import Figures, call
from training.recipes.recipe import Recipe

_CORRESPONDENCE_NOTE = (
    "Captions of test pictures cut in two: does the second half belong to the first? A small head over "
    "frozen token states learns from half of the languages and is tested on all; chance is 50."
)
CORRESPONDENCE = Experiment(
    "correspondence", "Sentence correspondence (A.1)", _CORRESPONDENCE_NOTE, headline="unseen languages"
)
CLUSTERS = Experiment(
    "clusters",
    "Clusters, by meaning or by language (A.4)",
    "k-means of captions of test pictures: purity and entropy of languages within a cluster (high purity: "
    "clusters by language), and how often captions of one picture in two languages share one. By chance: "
    "labels dealt anew. What is in them: work/STEP/report.md.",
    headline="one picture together, %",
)
GENERATION = Experiment(
    "generation",
    "Generation from sentence vectors (A.5)",
    "A small GPT-2 learns to write the first language from its sentence vectors, then writes from those of "
    "the others; means over these. The control reads another sentence's vector. Examples: STEP's report.",
    headline="chrF",
)
WRITING_SYSTEMS = ("best", "globetrotter-mini")
PROBED_SYSTEMS = ("best", "globetrotter-mini", "supervised", "text-only")


def appendix(study: Study, trained: Experiment, seed: int) -> Iterator[Planned]:
    """List the steps of one seed; `trained` is the experiment whose steps trained the systems."""
    for system in PROBED_SYSTEMS:
        for experiment in (CORRESPONDENCE, CLUSTERS):
            yield _measured(study, experiment, f"{trained.name}.{system}.{seed}", system, seed)
    for system in WRITING_SYSTEMS:
        yield _measured(study, GENERATION, f"{trained.name}.{system}.{seed}", system, seed)


def _measured(study: Study, experiment: Experiment, trained: str, system: str, seed: int) -> Planned:
    """The step that runs an experiment's command on what the step named `trained` left."""
    command = COMMANDS[experiment]

    def run(folder: Path, needed: Mapping[str, Path]) -> Outcome:
        options = command.options(needed[trained], study.recipe(system, seed))
        call("experiment", command.name, *options, "--data", study.data, "--seed", seed, "--out", folder)
        return Outcome(measures=read_figures(folder))

    step = Step(experiment, system, command.minutes, run, seed, needs=(trained,))
    return Planned(step, lambda: study.recipe(system, seed))


def read_figures(report: Path) -> Figures:
    """Read the figures of an experiment's first system, or set, from its report.json.

    Raises DamagedError if they are missing or bad.
    """
    path = report / "report.json"
    try:
        systems = json.loads(path.read_text("utf-8"))["figures"]
        return {name: float(value) for name, value in next(iter(systems.values())).items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration) as error:
        raise DamagedError(f"{path}: no report of this experiment: repeat the command") from error


@dataclass(frozen=True)
class Command:
    """`passepartout experiment NAME` as a step: its approximate minutes, and its options.

    options: the folder of the step that trained the system, and the system's recipe -> command-line options.
    """

    name: str
    minutes: float
    options: Callable[[Path, Recipe], Sequence[object]]


COMMANDS = {
    CORRESPONDENCE: Command("correspondence", 3, lambda trained, _: ("--encoder-run", trained / "run")),
    CLUSTERS: Command("clusters", 3, lambda trained, _: ("--encoder", trained / "bundle")),
    GENERATION: Command(
        "generate",
        10,
        lambda trained, recipe: ("--encoder", trained / "bundle", "--target", recipe.data.languages[0]),
    ),
}
