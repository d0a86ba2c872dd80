"""benchmarks/ablations.py goes on where it stopped and tabulates what it has; its ridge regression."""

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
FIGURES = {"cosine_r1": 10.0, "cosine_r10": 40.0, "csls_r1": 12.0, "csls_r10": 44.0}
FIGURES |= {"scripts_csls_r1": 3.0, "scripts_csls_r10": 20.0, "positives": 12.5}


def keep(out: Path, name: str, seed: int, **figures: float) -> None:
    folder = out / name / f"seed{seed}"
    folder.mkdir(parents=True)
    (folder / "figures.json").write_text(json.dumps(FIGURES | figures), "utf-8")


def run(out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        str(BENCHMARKS / "ablations.py"),
        "--data",
        str(out / "none"),
        "--out",
        str(out),
    ]
    return subprocess.run([*command, *options], capture_output=True, text=True, timeout=120, check=False)


def test_what_is_finished_is_not_done_again_and_is_in_the_table(tmp_path: Path) -> None:
    """There is no data, so whatever it did anew would fail."""
    keep(tmp_path, "text-only", 0, seconds=60, csls_r1=11)
    keep(tmp_path, "text-only", 1, seconds=70, csls_r1=13)
    keep(tmp_path, "ridge", 0)
    done = run(tmp_path, "--systems", "text-only,ridge", "--seeds", "0,1")
    assert done.returncode == 0, done.stderr
    head, _, text_only, ridge = (tmp_path / "table.md").read_text("utf-8").splitlines()
    assert head.startswith("| system | seeds | cosine_r1 |")
    assert "| text-only | 2 | 10.0 ± 0.0 | 40.0 ± 0.0 | 12.0 ± 1.4 |" in text_only
    assert text_only.endswith("| 65.0 ± 7.1 |")
    assert ridge.startswith("| ridge | 1 | 10.0 | 40.0 |")
    assert ridge.endswith("|  |")
    assert len(json.loads((tmp_path / "results.json").read_text("utf-8"))["text-only"]) == 2


def test_what_is_not_finished_is_begun(tmp_path: Path) -> None:
    keep(tmp_path, "text-only", 0)
    done = run(tmp_path, "--systems", "text-only", "--seeds", "0,1")
    assert done.returncode != 0
    assert "docs/data.md describes the data" in done.stderr or "see docs/data.md" in done.stderr
    assert (tmp_path / "table.md").is_file(), "what was finished before is in the table"


def test_an_unknown_recipe_is_told_before_anything_runs(tmp_path: Path) -> None:
    done = run(tmp_path, "--systems", "text-only,spam")
    assert done.returncode == 2
    assert "no recipe spam" in done.stderr


@pytest.fixture
def ridge(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import ridge as module  # type: ignore[import-not-found]

    return module  # type: ignore[no-any-return]


def test_the_regression_solves_its_normal_equations(ridge: ModuleType) -> None:
    """Two units in three sentences: x by hand, weights by least squares on an extended system."""
    sentences = [np.array([0]), np.array([1]), np.array([0, 0, 1])]
    targets = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    found = ridge.Ridge(sentences, 2, targets, documents=8, penalty=0.5)
    rarity = np.log(8 / 2)  # both are in two sentences
    mixed = np.array([(1 + np.log(2)) * rarity, rarity])
    x = np.array([[1, 0], [0, 1], mixed / np.linalg.norm(mixed)])
    extended = np.vstack([x, np.sqrt(0.5) * np.eye(2)])
    weights = np.linalg.lstsq(extended, np.vstack([targets, np.zeros((2, 4))]), rcond=None)[0]
    expected = x @ weights
    assert np.allclose(
        found.encode(sentences), expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-5
    )


def test_a_sentence_of_unknown_words_is_zero(ridge: ModuleType) -> None:
    targets = np.eye(2, dtype=np.float32)
    found = ridge.Ridge([np.array([0]), np.array([1])], 3, targets, documents=2, penalty=1)
    assert not found.encode([np.array([], np.int64), np.array([2])]).any()
