"""`passepartout paper experiment clusters`: with vision by meaning, without by language."""

import json
from pathlib import Path

import numpy as np
import pytest

from passepartout import run as passepartout
from tests.training.test_cli import Capture, fails
from tests.training.tiny import TRANSFORMER, recipe
from training.loop.run import Run
from training.loop.training_loop import train
from training.papers.globetrotter.clusters import k_means, measured

# Baselines as recipes: the transformer of the tests with the cloze alone.
TEXT_ONLY = (
    "vision.training=frozen",
    'objectives={"cloze":{"shared_pass":true}}',
    "text.pooling=mean",
    "head.text=none",
    "head.dimension=16",
    "run.keep=last",
    "optimiser.epochs=6",
    "optimiser.learning_rate=5e-3",
)


@pytest.fixture(scope="module")
def blind(drawn: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that never looked at a picture."""
    folder = tmp_path_factory.mktemp("blind")
    return train(recipe(TRANSFORMER, folder, *TEXT_ONLY), drawn, folder / "run")


def test_without_vision_clusters_are_languages(
    three: Run, blind: Run, drawn: Path, tmp_path: Path, capsys: Capture
) -> None:
    words = [
        "paper",
        "experiment",
        "clusters",
        "--encoder",
        str(three.folder),
        "--without-vision",
        str(blind.folder),
    ]
    assert passepartout([*words, "--data", str(drawn), "--clusters", "10", "--out", str(tmp_path)]) == 0
    assert "purity" in capsys.readouterr().out
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    seeing, unseeing = (system["measures"] for system in report["systems"])
    assert unseeing["purity"] > seeing["purity"] + 10
    assert unseeing["information"] > seeing["information"]
    assert unseeing["entropy"] < seeing["entropy"]
    assert seeing["together"] > 2 * report["systems"][0]["expected"]["together"]
    assert [len(shown) for shown in report["systems"][0]["examples"]] == [3, 3, 3]


def test_measures_of_known_clusters() -> None:
    languages = np.repeat([0, 1], 8)
    pure = measured(languages.copy(), languages)
    assert pure == pytest.approx({"purity": 100, "entropy": 0, "information": 1})
    mixed = measured(np.tile([0, 1], 8), languages)
    assert mixed == pytest.approx({"purity": 50, "entropy": 1, "information": 0})


def test_k_means_finds_separate_groups_and_is_seeded() -> None:
    draw = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 30)
    rows = (np.eye(4, 6)[truth] + 0.01 * draw.standard_normal((120, 6))).astype(np.float32)
    found = k_means(rows, 4, seed=1)
    assert measured(found, truth)["information"] == pytest.approx(1)
    assert (found == k_means(rows, 4, seed=1)).all()


def test_wrong_use_is_one_line(three: Run, drawn: Path, tmp_path: Path, capsys: Capture) -> None:
    words = ["paper", "experiment", "clusters", "--encoder", str(three.folder), "--data", str(drawn)]
    out = ["--out", str(tmp_path / "out")]
    assert "make no 5000 clusters" in fails(capsys, 2, *words, "--clusters", "5000", *out)
    assert "contains no training run" in fails(capsys, 2, *words[:3], str(tmp_path), *words[4:], *out)
