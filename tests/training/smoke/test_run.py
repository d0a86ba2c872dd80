"""The whole path by the real command: drawn pictures in, an encoder that translates out."""

import os
import re
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree

import pytest

from evaluation.measures.scores import score_translation
from evaluation.suites.sets import read_aligned
from index.encoder.bundle import Bundle, open_bundle
from index.encoder.text_encoder import TextEncoder
from training.loop.run import open_run
from training.recipes.files import shipped_recipes
from training.recipes.recipe import Recipe
from training.smoke.drawings import write_synthetic
from training.smoke.run import run_smoke

CHANCE = 100 * 10 / 200  # R@10 among 200 lines
SECONDS = 20  # of one core, that a smoke run may take on an ordinary machine


@dataclass(frozen=True)
class Smoke:
    """What `passepartout train NAME --smoke` left, said and took."""

    folder: Path
    out: str
    err: str
    cpu_seconds: float

    @property
    def bundle(self) -> Bundle:
        return open_bundle(self.folder / "bundle")

    @property
    def recipe(self) -> Recipe:
        return open_run(self.folder / "run").recipe


def recall(folder: Path) -> float:
    """R@10 between the languages on lines that no picture shows."""
    encoder = TextEncoder(open_bundle(folder / "bundle"))
    texts = read_aligned(folder / "data" / "benchmark" / "synthetic_test", encoder.bundle.manifest.languages)
    vectors = {language: encoder.encode(lines) for language, lines in texts.items()}
    assert {len(lines) for lines in texts.values()} == {200}
    return score_translation("smoke", "", vectors).means["all"]["csls_r10"]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Smoke:
    folder = tmp_path_factory.mktemp("smoke") / "small"
    command = [sys.executable, "-m", "passepartout", "train", "globetrotter-small", "--smoke"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, "--out", folder], capture_output=True, text=True, env=env, timeout=300, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Smoke(folder, done.stdout, done.stderr, took)


def test_pictures_teach_it_to_translate(small: Smoke) -> None:
    assert recall(small.folder) > 6 * CHANCE


def test_with_the_pictures_shuffled_it_falls_to_chance(small: Smoke, tmp_path: Path) -> None:
    """Vision is the bridge: nothing else of the data lets the languages meet."""
    run_smoke("globetrotter-small", tmp_path, ["data.shuffle_pictures=true"])
    control = recall(tmp_path)
    assert control < 2 * CHANCE
    assert control < recall(small.folder) / 4


def test_it_says_what_it_made_and_nothing_else(small: Smoke) -> None:
    (line,) = small.out.splitlines()
    assert line.startswith(f"{small.folder / 'bundle'}: {small.bundle.name}, sum of recalls ")
    assert re.search(r"validation R@1 \d+\.\d$", line)
    progress = re.compile(
        r"(check pictures|picture features|train [a-z-]+) \d+/\d+ (pictures|views|epochs) \(.*\)"
    )
    assert [text for text in small.err.splitlines() if not progress.fullmatch(text)] == []


def test_it_is_quick(small: Smoke) -> None:
    assert small.cpu_seconds < 2 * SECONDS, "twice the bound, for slower machines"


def test_what_it_leaves(small: Smoke) -> None:
    assert {file.name for file in small.folder.iterdir()} == {"data", "run", "bundle"}
    assert small.bundle.name == "globetrotter-small@smoke"
    assert open_run(small.folder / "run").result()["epochs"] == small.recipe.optimiser.epochs


def test_every_shipped_recipe_has_tiny_sizes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """That of recipes not run here: their tiny version is a recipe, and says so in data, model and time."""
    from training.smoke import run as module

    seen: list[Recipe] = []

    def trained(recipe: Recipe, *_: object) -> None:
        seen.append(recipe)
        raise InterruptedError

    monkeypatch.setattr(module, "train", trained)
    drawn = tmp_path / "drawn"
    write_synthetic(drawn, pictures=20)
    monkeypatch.setattr(module, "write_synthetic", lambda folder, **_: copytree(drawn, folder))
    for name in shipped_recipes():
        with pytest.raises(InterruptedError):
            module.run_smoke(name, tmp_path / name, ["seed=3"])
    assert [recipe.name for recipe in seen] == list(shipped_recipes())
    assert all(recipe.seed == 3 and recipe.text.width <= 32 for recipe in seen)
    assert all(recipe.optimiser.epochs <= 60 and recipe.vision.image_size <= 64 for recipe in seen)
