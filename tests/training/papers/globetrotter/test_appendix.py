"""What the appendix's reports say, read for the table."""

import json
from pathlib import Path

import pytest

from index.errors import DamagedError
from training.papers.globetrotter.appendix import CLUSTERS, read_figures


def write(folder: Path, facts: object) -> Path:
    (folder / "report.json").write_text(json.dumps(facts), "utf-8")
    return folder


def test_the_figures_of_the_first_system_are_read(tmp_path: Path) -> None:
    systems = {"best": {CLUSTERS.headline: 2, "purity, % by chance": 1.5}, "text-only": {}}
    figures = read_figures(write(tmp_path, {"figures": systems}))
    assert figures == {CLUSTERS.headline: 2.0, "purity, % by chance": 1.5}


@pytest.mark.parametrize("facts", [{}, {"figures": {}}, {"figures": {"best": {"chrF": "high"}}}, []])
def test_a_malformed_report_is_named(tmp_path: Path, facts: object) -> None:
    with pytest.raises(DamagedError, match=r"report\.json: no report of this experiment"):
        read_figures(write(tmp_path, facts))
    with pytest.raises(DamagedError, match=r"report\.json"):
        read_figures(tmp_path / "none")
