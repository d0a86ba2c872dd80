"""`passepartout paper experiment families`: every two languages of picture sets, by family."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from index.encoder.vectors import unit
from index.errors import DataError
from passepartout import run as passepartout
from tests.training.test_cli import Capture
from training.loop.run import Run
from training.papers.globetrotter.families import FEWEST_PICTURES, PAPER_LANGUAGES, measure_families

PICTURES = FEWEST_PICTURES + 10


class Numbered:
    """Knows the number at the end of a text; in Czech it is often off by one."""

    name = "numbered"
    languages = ("de", "en", "cs", "pl")

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        table = unit(np.random.default_rng(0).standard_normal((PICTURES + 1, 16)))
        numbers = [
            int(text.split()[1]) + (text.startswith("cs") and int(text.split()[1]) % 2) for text in texts
        ]
        return table[numbers]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Captions in five languages, of which two pictures say the same and Polish has few."""
    (tmp_path / "captions").mkdir()
    names = [f"{number}.jpg" for number in range(PICTURES)]
    (tmp_path / "splits.tsv").write_text("".join(f"{name}\ttest\n" for name in names), "utf-8")
    for code in ("de", "en", "cs", "pl", "fr"):
        said = names[:5] if code == "pl" else names
        lines = [f"{name}\t{code} {max(1, number)}\thuman\n" for number, name in enumerate(said)]
        (tmp_path / "captions" / f"{code}.tsv").write_text("".join(lines), "utf-8")
    return tmp_path


def test_pairs_are_measured_on_the_pictures_that_both_have(folder: Path) -> None:
    measured = measure_families(Numbered(), folder, ["de", "en", "cs", "pl", "fr", "zh"])
    assert measured.table.languages == ("de", "en", "cs")
    assert measured.missing == ("pl", "fr", "zh"), "too few lines, not known to the encoder, no file"
    scores = {(pair.source, pair.target): pair for pair in measured.table.pairs}
    assert {pair.n for pair in scores.values()} == {PICTURES - 1}, "equal texts count once"
    assert measured.within == scores["de", "en"].measures["csls_r1"] == 100
    assert measured.between < 70
    assert measured.chance == pytest.approx(100 / (PICTURES - 1))
    assert sum(measured.asymmetry.values()) == pytest.approx(0)


def test_two_languages_must_share_pictures(folder: Path) -> None:
    with pytest.raises(DataError, match="no two of the languages share 20 test pictures"):
        measure_families(Numbered(), folder, ["pl", "en"])


def test_the_paper_has_52_languages() -> None:
    assert len(set(PAPER_LANGUAGES)) == 52


def test_the_command_writes_matrices(three: Run, drawn: Path, tmp_path: Path, capsys: Capture) -> None:
    words = ["paper", "experiment", "families", "--encoder", str(three.folder), "--data", str(drawn)]
    assert passepartout([*words, "--set", "photos", "--out", str(tmp_path)]) == 0
    assert "within a family" in capsys.readouterr().out
    assert "| easier from than to |" in (tmp_path / "report.md").read_text("utf-8")
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert report["figures"]["photos"]["languages"] >= 2
