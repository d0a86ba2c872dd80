"""The steps of a paper's experiments: what each depends on, and which of them are asked for."""

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

# What is read below the data folder, besides the pictures.
TEXTS = ("photos/splits.tsv", "photos/captions/*.tsv", f"benchmark/{BENCHMARK}/*.txt", "text/*.txt")


@dataclass(frozen=True)
class Study:
    """Experiments on the data folder `data`, over `seeds`, with `overrides` laid over every recipe."""

    data: Path
    seeds: tuple[int, ...]
    overrides: tuple[str, ...] = ()

    def settings(self, seed: int) -> tuple[str, ...]:
        """The overrides of a run."""
        return (*self.overrides, f"seed={seed}")

    def recipe(self, name: str, seed: int) -> Recipe:
        return load_recipe(name, self.settings(seed))


@dataclass(frozen=True)
class Planned:
    """A step without its key, and what says the key: the recipe that its outcome depends on."""

    step: Step
    recipe: Callable[[], Recipe]


def choose(planned: Sequence[Planned], study: Study, only: Sequence[str], out: Path) -> list[Step]:
    """The steps whose names fit one of the patterns `only` (all without one), what these need, and any others
    that are finished in `out`, so that the report keeps them. With their keys.

    Raises UsageError for a pattern that no step fits, RecipeError for overrides that a recipe can't take.
    """
    names = [one.step.name for one in planned]
    for pattern in only:
        if not any(fnmatchcase(name, pattern) for name in names):
            kinds = ", ".join(dict.fromkeys(one.step.experiment.name for one in planned))
            raise UsageError(
                f"--only {pattern}: no such step; steps are EXPERIMENT.SYSTEM.SEED, the experiments {kinds}"
            )
    wanted = _with_needs(planned, {n for n in names if not only or any(fnmatchcase(n, p) for p in only)})
    data = identity(study.data)
    found: dict[str, Step] = {}
    for one in planned:
        if one.step.name in wanted:
            found[one.step.name] = _keyed(one, data)
        elif set(one.step.needs) <= set(found) and (step := _finished(one, data, out)):
            found[step.name] = step
    return list(found.values())


def _finished(planned: Planned, data: str, out: Path) -> Step | None:
    with suppress(RecipeError):  # overrides that this recipe can't take: then it was never run with them
        step = _keyed(planned, data)
        return step if read_result(out, step) else None
    return None


def _with_needs(planned: Iterable[Planned], wanted: set[str]) -> set[str]:
    needs = {one.step.name: one.step.needs for one in planned}
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
    """SHA-256 of the texts of a data folder and its pictures' size. DataError for what cannot be read."""
    archive = data / "photos" / "images.tar"
    files = sorted(path for pattern in TEXTS for path in data.glob(pattern))
    digest = hashlib.sha256()
    try:
        digest.update(json.dumps(archive.stat().st_size).encode())
        for path in files:
            digest.update(f"\0{path.relative_to(data).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    except OSError as error:
        raise DataError(f"{error.filename}: cannot be read ({error.strerror}): see docs/data.md") from error
    return digest.hexdigest()
