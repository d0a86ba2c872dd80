"""Chooses among the steps of a paper's experiments, and identifies what each depends on."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from evaluation.reports.experiments import Step, read_result
from evaluation.suites.corpus import BENCHMARK
from index.errors import DataError, RecipeError, UsageError
from training.recipes.recipe import Recipe, load_recipe

# Files of the data folder that results depend on, besides the pictures.
TEXT_FILES = ("photos/splits.tsv", "photos/captions/*.tsv", f"benchmark/{BENCHMARK}/*.txt", "text/*.txt")


@dataclass(frozen=True)
class Study:
    """Experiments on the data folder `data`, over `seeds`, with `overrides` laid over every recipe."""

    data: Path
    seeds: tuple[int, ...]
    overrides: tuple[str, ...] = ()

    def settings(self, seed: int) -> tuple[str, ...]:
        """The overrides of a run with that seed."""
        return (*self.overrides, f"seed={seed}")

    def recipe(self, name: str, seed: int) -> Recipe:
        return load_recipe(name, self.settings(seed))


@dataclass(frozen=True)
class Planned:
    """A step that has no key yet, and the recipe that its key is made of, read when it is needed."""

    step: Step
    recipe: Callable[[], Recipe]


def choose(planned: Sequence[Planned], study: Study, only: Sequence[str], out: Path) -> list[Step]:
    """Choose the steps whose names match a pattern of `only` (all if it is empty) and those that they need.

    Others that are finished in `out` are kept, so that they stay in the report. Each step gets its key.
    Raises UsageError for a pattern without a match, RecipeError for overrides that a recipe can't take.
    """
    names = [plan.step.name for plan in planned]
    for pattern in only:
        if not any(fnmatchcase(name, pattern) for name in names):
            kinds = ", ".join(dict.fromkeys(plan.step.experiment.name for plan in planned))
            raise UsageError(
                f"--only {pattern}: no such step; steps are EXPERIMENT.SYSTEM.SEED, the experiments {kinds}"
            )
    wanted = _with_needs(planned, {n for n in names if not only or any(fnmatchcase(n, p) for p in only)})
    data = identity(study.data)
    chosen: dict[str, Step] = {}
    for plan in planned:
        if plan.step.name in wanted:
            chosen[plan.step.name] = _keyed(plan, data)
        elif set(plan.step.needs) <= set(chosen) and (step := _finished(plan, data, out)):
            chosen[step.name] = step
    return list(chosen.values())


def _finished(planned: Planned, data: str, out: Path) -> Step | None:
    with suppress(RecipeError):  # a recipe that can't take the overrides was never run with them
        step = _keyed(planned, data)
        return step if read_result(out, step) else None
    return None


def _with_needs(planned: Iterable[Planned], wanted: set[str]) -> set[str]:
    needs = {plan.step.name: plan.step.needs for plan in planned}
    left = list(wanted)
    while left:
        for name in needs[left.pop()]:
            if name not in wanted:
                wanted.add(name)
                left.append(name)
    return wanted


def _keyed(planned: Planned, data: str) -> Step:
    return replace(planned.step, key=f"{planned.recipe().sha256} {data}")


def identity(data: Path) -> str:
    """SHA-256 of a data folder's texts and of its pictures' size. DataError if a file cannot be read."""
    archive = data / "photos" / "images.tar"
    files = sorted(path for pattern in TEXT_FILES for path in data.glob(pattern))
    digest = hashlib.sha256()
    try:
        digest.update(json.dumps(archive.stat().st_size).encode())
        for path in files:
            digest.update(f"\0{path.relative_to(data).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    except OSError as error:
        raise DataError(f"{error.filename}: cannot be read ({error.strerror}): see docs/data.md") from error
    return digest.hexdigest()
