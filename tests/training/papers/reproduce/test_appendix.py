"""What the appendix's reports say, read for the table; the language that is held out."""

import json
from pathlib import Path

import pytest

from index.errors import DamagedError
from training.papers.reproduce.appendix import (
    CLUSTERS,
    COST_SET,
    WRITING,
    clusters,
    correspondence,
    costs,
    generation,
    without_last,
)
from training.papers.reproduce.study import Study


def write(folder: Path, facts: object) -> Path:
    (folder / "report.json").write_text(json.dumps(facts), "utf-8")
    return folder


def test_the_last_language_is_held_out() -> None:
    study = Study(Path("none"), (4,), ('data.languages=["en","de","pt","zh"]',))
    overrides, recipe = without_last(study, "best", 4)
    assert recipe.data.languages == ("en", "de", "pt")
    assert recipe.data.held_out == ("zh",)
    assert recipe.seed == 4
    assert overrides[0] == study.overrides[0]


def test_what_a_new_language_costs(tmp_path: Path) -> None:
    def group(before: float, after: float) -> dict[str, dict[str, float]]:
        return {
            "before": {"csls_r10": before, "positives": before / 2},
            "after": {"csls_r10": after, "positives": after / 2},
        }

    means = {"the other languages": group(60, 58), "from zh": group(4, 30), "to zh": group(6, 32)}
    found = costs(write(tmp_path, {"sets": {COST_SET: {"means": means}}}), "zh")
    assert found == {
        "the others before, CSLS R@10": 60,
        "the others after, CSLS R@10": 58,
        "from the new one, CSLS R@10": 30,
        "to the new one, CSLS R@10": 32,
        "the others before, positives found": 30,
        "the others after, positives found": 29,
        "from the new one, positives found": 15,
        "to the new one, positives found": 16,
    }


def test_halves_of_sentences(tmp_path: Path) -> None:
    system = {"seen": 80.0, "unseen": 70.0, "relative_decrease": 33.3, "added": {}}
    found = correspondence(write(tmp_path, {"systems": [system]}))
    assert found == {"seen languages": 80, "unseen languages": 70, "relative decrease": 33.3}
    system |= {"relative_decrease": None, "added": {"zh": 60.0, "ar": 64.0}}
    found = correspondence(write(tmp_path, {"systems": [system]}))
    assert found == {"seen languages": 80, "unseen languages": 70, "language added later": 62}


def test_clusters_beside_chance(tmp_path: Path) -> None:
    keys = ("purity", "entropy", "information", "together")
    parts = {"measures": dict.fromkeys(keys, 2.0), "expected": dict.fromkeys(keys, 1.0)}
    found = clusters(write(tmp_path, {"systems": [parts]}))
    assert len(found) == 8
    assert found[CLUSTERS.headline] == 2
    assert found["purity, % by chance"] == 1


def test_what_is_written_from_other_languages(tmp_path: Path) -> None:
    def scores(value: float) -> dict[str, object]:
        names = ("chrf", "bleu", "control_chrf", "control_bleu")
        return {name: value + number for number, name in enumerate(names)} | {"examples": []}

    facts = {"target": "en", "languages": {"en": scores(90), "de": scores(20), "zh": scores(30)}}
    found = generation(write(tmp_path, facts))
    assert found == {"chrF": 25, "BLEU": 26, "chrF, control": 27, "BLEU, control": 28}
    assert WRITING.headline in found


@pytest.mark.parametrize("facts", [{}, {"systems": [{"seen": 1}]}, []])
def test_a_report_that_is_none_is_named(tmp_path: Path, facts: object) -> None:
    with pytest.raises(DamagedError, match=r"report\.json: no report of this experiment"):
        correspondence(write(tmp_path, facts))
    with pytest.raises(DamagedError, match=r"report\.json"):
        costs(tmp_path, "zh")
