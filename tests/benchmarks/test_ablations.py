"""benchmarks/training/ablations.py goes on where it stopped and tabulates what it has."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.training.ablations import GROUPS, VARIATIONS, main
from training.recipes.files import shipped_recipes
from training.recipes.recipe import load_recipe

ROOT = Path(__file__).parents[2]
MEASURED_AS_BUNDLES = {"small", "open"}
FOR_A_GPU = {"globetrotter", "pseudopairs-start", "pseudopairs", "mule", "smalr"}
FOR_A_GPU |= {"caption-tuning", "caption-tuning-pivot"}
FIGURES = {"cosine_r1": 10.0, "cosine_r10": 40.0, "csls_r1": 12.0, "csls_r10": 44.0}
FIGURES |= {"scripts_csls_r1": 3.0, "scripts_csls_r10": 20.0, "positives": 12.5}


def keep(out: Path, name: str, seed: int, **figures: float) -> None:
    folder = out / name / f"seed{seed}"
    folder.mkdir(parents=True)
    (folder / "figures.json").write_text(json.dumps(FIGURES | figures), "utf-8")


def words(out: Path, *options: str) -> list[str]:
    return ["--data", str(out / "none"), "--out", str(out), *options]


def test_what_is_finished_is_not_done_again_and_is_in_the_table(tmp_path: Path) -> None:
    """There is no data, so whatever it did anew would fail."""
    keep(tmp_path, "text-only", 0, seconds=60, csls_r1=11)
    keep(tmp_path, "text-only", 1, seconds=70, csls_r1=13)
    keep(tmp_path, "ridge", 0)
    done = CliRunner().invoke(main, words(tmp_path, "--systems", "text-only,ridge", "--seeds", "0,1"))
    assert done.exit_code == 0, done.output
    head, _, text_only, ridge = (tmp_path / "table.md").read_text("utf-8").splitlines()
    assert head.startswith("| system | seeds | cosine_r1 |")
    assert "| text-only | 2 | 10.0 ± 0.0 | 40.0 ± 0.0 | 12.0 ± 1.4 |" in text_only
    assert text_only.endswith("| – | – | 65.0 ± 7.1 |"), "before there were pictures' measures"
    assert ridge.startswith("| ridge | 1 | 10.0 | 40.0 |")
    assert ridge.endswith("| – |")
    assert len(json.loads((tmp_path / "results.json").read_text("utf-8"))["text-only"]) == 2


def test_groups_name_their_systems_once_and_every_recipe_that_a_core_can_train(tmp_path: Path) -> None:
    recipes = set(shipped_recipes())
    for name in (*recipes, *VARIATIONS, "ridge", "trigrams"):
        keep(tmp_path, name, 0, mr=33.3, weights=120)
    groups = "fig-3,joined,variants,claims,photos-11"
    done = CliRunner().invoke(main, words(tmp_path, "--systems", groups, "--seeds", "0"))
    assert done.exit_code == 0, done.output
    lines = (tmp_path / "table.md").read_text("utf-8").splitlines()[2:]
    assert all("| 33.3 | 120.0 |" in line for line in lines)
    named = [line.removeprefix("| ").partition(" | ")[0] for line in lines]
    assert len(set(named)) == len(named)
    assert recipes - set(named) == FOR_A_GPU | MEASURED_AS_BUNDLES
    assert set(named) >= set(VARIATIONS)
    assert not (recipes | set(VARIATIONS)) & set(GROUPS), "a system can be asked for alone"


@pytest.mark.parametrize("name", VARIATIONS)
def test_a_variation_is_a_recipe_that_can_be_trained_and_no_other(name: str) -> None:
    recipe, *settings = VARIATIONS[name]
    assert name not in shipped_recipes()
    assert load_recipe(recipe, settings) != load_recipe(recipe)


def test_what_is_not_finished_is_begun(tmp_path: Path) -> None:
    keep(tmp_path, "text-only", 0)
    asked = words(tmp_path, "--systems", "text-only", "--seeds", "0,1")
    command = [sys.executable, "-m", "benchmarks.training.ablations", *asked]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=ROOT)
    assert done.returncode == 1
    assert "docs/data.md describes the data" in done.stderr or "see docs/data.md" in done.stderr
    assert (tmp_path / "table.md").is_file(), "what was finished before is in the table"


def test_an_unknown_recipe_is_reported_before_anything_runs(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, words(tmp_path, "--systems", "text-only,spam"))
    assert done.exit_code == 2
    assert "no system spam" in done.stderr
