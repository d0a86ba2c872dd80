"""A paper's claims, put to the test: every system of every table over seeds, as one report.

A room's claims.toml says what the paper claims, which systems show it, and what came out here:

    [systems.smaller]                # a shipped recipe with other settings; a recipe itself needs no entry
    recipe = "globetrotter-mini"
    set = ["tokenizer.vocabulary=1000"]

    [[claims]]
    name = "losses"
    claim = "..."                    # the paper's, with its section
    here = "..."                     # what was measured here, and on what
    systems = ["globetrotter-mini", "smaller"]

Each system is trained and measured (`measures`). What is finished stays in OUT/SYSTEM/seedN and is not done
again, an interrupted training goes on from its last checkpoint; OUT/report.md and OUT/results.json are
written anew after every trial.
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
from pydantic import Field

from evaluation.reports.report import grid, page
from evaluation.reports.report import name as measure_name
from index.errors import PassepartoutError, UsageError
from index.storage.files import replace_text
from training.data.captions import load_split
from training.data.settings import SettingsTable
from training.loop.training_loop import train
from training.papers.measures import Figures, measure_run
from training.recipes.files import shipped_recipes
from training.recipes.recipe import Recipe, load_recipe

Say = Callable[[str], None]
SHOWN = (
    "csls_r1",
    "csls_r10",
    "scripts_csls_r1",
    "scripts_csls_r10",
    "positives",
    "mr",
    "weights",
    "seconds",
)


class System(SettingsTable):
    """A system that is not a shipped recipe: `set` is laid over `recipe`.

    start: the system with whose run it begins, in place of its stages; "": as its recipe says.
    """

    recipe: str
    set: tuple[str, ...] = ()
    start: str = ""


class Claim(SettingsTable):
    """What a paper claims, the systems that show it, and what came out here.

    compared: the languages of Multi30k; (): all. shown: its figures in the report, as patterns.
    ceiling: the system that counts as 100 % in the first of `shown`.
    """

    name: str
    claim: str
    here: str = ""
    systems: tuple[str, ...]
    compared: tuple[str, ...] = ()
    shown: tuple[str, ...] = SHOWN
    ceiling: str = ""


class Claims(SettingsTable):
    """The contents of claims.toml."""

    systems: dict[str, System] = Field(default_factory=dict)
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Trial:
    """A claim's measurement of one system with one seed."""

    claim: Claim
    system: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.claim.name}.{self.system}.{self.seed}"


@dataclass(frozen=True)
class Study:
    """The claims of a paper on a data folder; `overrides` are laid over every recipe, `out` is the report."""

    paper: Claims
    data: Path
    out: Path
    seeds: tuple[int, ...]
    overrides: tuple[str, ...]

    def trials(self, only: Sequence[str] = ()) -> list[Trial]:
        """List what is to be done, seed by seed, as far as it matches a pattern of `only`; () matches all.

        UsageError for a pattern without a match, RecipeError for overrides that a recipe can't take.
        """
        trials = list(self._trials())
        for pattern in only:
            if not any(fnmatchcase(trial.name, pattern) for trial in trials):
                claims = ", ".join(claim.name for claim in self.paper.claims)
                raise UsageError(
                    f"--only {pattern}: no such trial; trials are CLAIM.SYSTEM.SEED, claims {claims}"
                )
        chosen = [s for s in trials if not only or any(fnmatchcase(s.name, pattern) for pattern in only)]
        for system in dict.fromkeys(trial.system for trial in chosen):
            self._recipe(system, self.seeds[0])
        return chosen

    def _trials(self) -> Iterator[Trial]:
        for seed in self.seeds:
            for claim in self.paper.claims:
                for system in claim.systems:
                    yield Trial(claim, system, seed)

    def run(self, trials: Sequence[Trial], title: str, command: str, say: Say) -> None:
        """Do what is not done yet; the report is written after each trial.

        A trial that fails is named, the others go on, and PassepartoutError is raised at the end. UsageError
        if `out` has results of other data or other overrides, DataError if `data` lacks captions for any.
        """
        recipes = [self._recipe(one.system, one.seed) for one in trials if not self._file(one).is_file()]
        for settings in {recipe.data.model_dump_json(): recipe.data for recipe in recipes}.values():
            load_split(self.data, "train", settings)
        self._bind()
        failed = []
        for trial in trials:
            if self._file(trial).is_file():
                continue
            try:
                self._folder(trial.system, trial.seed).mkdir(parents=True, exist_ok=True)
                trained = self._trained(trial.system, trial.seed)
                figures = measure_run(trained, self.data, trial.claim.compared)
            except PassepartoutError as error:
                failed.append(trial.name)
                say(f"{trial.name}: failed: {error}")
                continue
            replace_text(self._file(trial), json.dumps(figures, indent=1) + "\n")
            shown = (f"{measure_name(key)} {figures[key]:.1f}" for key in _shown(trial.claim, figures))
            say(f"{trial.name}: {', '.join(shown)}")
            self.write_report(title, command)
        self.write_report(title, command)
        if failed:
            raise PassepartoutError(f"{', '.join(failed)} failed: repeat the command")

    def figures(self, claim: Claim) -> dict[str, list[Figures]]:
        """System -> the figures of each seed that is done."""
        done: dict[str, list[Figures]] = {system: [] for system in claim.systems}
        for trial in (trial for trial in self._trials() if trial.claim == claim):
            if (file := self._file(trial)).is_file():
                done[trial.system].append(json.loads(file.read_text("utf-8")))
        return done

    def write_report(self, title: str, command: str) -> None:
        """Write report.md for people and results.json for programs, of all that is done."""
        parts = [f"# {title}", f"```\n{command}\n```"]
        results = {claim.name: self.figures(claim) for claim in self.paper.claims}
        for claim in self.paper.claims:
            parts += [f"## {claim.name}", claim.claim.strip(), _grid(claim, results[claim.name])]
            parts += [f"Measured before: {claim.here.strip()}"] if claim.here else []
        replace_text(self.out / "report.md", page(parts))
        replace_text(self.out / "results.json", json.dumps(results, indent=1) + "\n")

    def _bind(self) -> None:
        """Record the data and overrides of the results in `out`, or check that they are the same."""
        bound, file = {"data": str(self.data.resolve()), "set": list(self.overrides)}, self.out / "study.json"
        self.out.mkdir(parents=True, exist_ok=True)
        if not file.is_file():
            replace_text(file, json.dumps(bound) + "\n")
        elif json.loads(file.read_text("utf-8")) != bound:
            raise UsageError(f"{self.out} has results for other data or --set values: give another --out")

    def _folder(self, system: str, seed: int) -> Path:
        return self.out / system / f"seed{seed}"

    def _file(self, trial: Trial) -> Path:
        return self._folder(trial.system, trial.seed) / "figures.json"

    def _recipe(self, system: str, seed: int) -> Recipe:
        described = self.paper.systems.get(system) or System(recipe=system)
        settings = [f"name={system}", *described.set, *self.overrides, f"seed={seed}"]
        if described.start:
            start = self._folder(described.start, seed) / "run"
            settings.append(f"text.start={json.dumps(str(start.resolve()))}")
        return load_recipe(described.recipe, settings)

    def _trained(self, system: str, seed: int) -> Path:
        """Train a system, or go on with its training, after the one that it starts from; returns its run."""
        described, folder = self.paper.systems.get(system), self._folder(system, seed) / "run"
        if described and described.start:
            self._trained(described.start, seed)
        train(self._recipe(system, seed), self.data, folder, resume=True)
        return folder


def read_claims(file: Path) -> Claims:
    """Read a room's claims. ValueError for a claim about a system that does not exist."""
    claims = Claims.model_validate(tomllib.loads(file.read_text("utf-8")))
    known = {*claims.systems, *shipped_recipes()}
    for claim in claims.claims:
        if unknown := [system for system in claim.systems if system not in known]:
            raise ValueError(f"{file}: {claim.name}: no system {unknown[0]}")
    return claims


def spread(values: Sequence[float]) -> str:
    """Format mean ± sample standard deviation to one decimal; a single value without deviation, none as –."""
    if not values:
        return "–"
    return f"{np.mean(values):.1f}" + (f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else "")


def _grid(claim: Claim, figures: Mapping[str, Sequence[Figures]]) -> str:
    """A row a system: mean ± standard deviation over its seeds, and its share of the ceiling."""
    keys = _shown(claim, {key: 0.0 for seeds in figures.values() for seed in seeds for key in seed})
    head = ["system", "seeds", *(measure_name(key) for key in keys)]
    rows = [
        [system, str(len(seeds)), *(spread([seed[key] for seed in seeds if key in seed]) for key in keys)]
        for system, seeds in figures.items()
    ]
    if figures.get(claim.ceiling):
        first = claim.shown[0]
        whole = float(np.mean([seed[first] for seed in figures[claim.ceiling]]))
        head.append(f"{measure_name(first)}, % of {claim.ceiling}")
        for row, seeds in zip(rows, figures.values(), strict=True):
            row.append(spread([100 * seed[first] / whole for seed in seeds if first in seed]))
    return grid(head, rows)


def _shown(claim: Claim, figures: Mapping[str, float]) -> list[str]:
    """The names of the figures that the report has, in the order of `claim.shown`."""
    return list(dict.fromkeys(key for pattern in claim.shown for key in figures if fnmatchcase(key, pattern)))
