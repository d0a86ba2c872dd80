"""`passepartout reproduce PAPER`, the real command on drawn pictures; the claims of every room."""

import json
import re
from pathlib import Path

import pytest

from passepartout import run
from tests.conftest import Fails, Says
from tests.training.papers.conftest import TINY
from training.papers.study import Claims, Study, read_claims
from training.recipes.files import papers

SYSTEM = "globetrotter-mini"


def words(data: Path, out: Path, *more: str) -> list[str]:
    sets = [word for override in TINY for word in ("--set", override)]
    given = ["--data", str(data), "--out", str(out), "--seeds", "0"]
    return ["reproduce", "globetrotter", *given, *sets, *more]


@pytest.mark.parametrize("paper", papers())
def test_every_system_of_a_claim_is_a_recipe(paper: str, tmp_path: Path) -> None:
    claims = read_claims(papers()[paper])
    study = Study(claims, tmp_path, tmp_path, (0, 1), ())
    assert all(claim.claim and claim.systems for claim in claims.claims)
    assert {trial.system for trial in study.trials()} == {s for claim in claims.claims for s in claim.systems}


def test_what_is_done_is_reported_and_not_done_again(
    scenes: Path, tmp_path: Path, says: Says, fails: Fails
) -> None:
    out = tmp_path / "out"
    only = ("--only", f"sentences.{SYSTEM}.0")
    assert run(words(scenes, out, *only)) == 0
    (figures,) = json.loads((out / "results.json").read_text("utf-8"))["sentences"][SYSTEM]
    assert 0 < figures["csls_r1"] <= figures["csls_r5"] <= figures["csls_r10"] <= 100
    assert {"positives", "mr", "weights", "seconds", "scripts_csls_r10"} < set(figures)
    report = (out / "report.md").read_text("utf-8")
    assert re.search(rf"^\| {SYSTEM} \| 1 \| {figures['positives']:.1f} \|", report, re.MULTILINE)
    assert "% of supervised" not in report, "the ceiling was not asked for"
    assert f"--only {only[1]}" in report, "the command"

    trained = (out / SYSTEM / "seed0" / "run" / "result.json").stat().st_mtime_ns
    assert says(*words(scenes, out, *only)).out == ""
    assert (out / SYSTEM / "seed0" / "run" / "result.json").stat().st_mtime_ns == trained

    assert "results for other data or --set" in fails(*words(scenes, out, *only), "--set", "seed=3")


def test_a_failing_system_is_named_and_does_not_stop_others(scenes: Path, tmp_path: Path, says: Says) -> None:
    """A loss that explodes, of each."""
    more = ("--set", "optimiser.learning_rate=1e30", "--set", "optimiser.clip_norm=null")
    only = ("--only", f"sentences.{SYSTEM}.0", "--only", "sentences.without-cloze.0")
    out, err = says(*words(scenes, tmp_path / "out", *more, *only), code=1)
    failed = [f"sentences.{name}.0" for name in (SYSTEM, "without-cloze")]
    assert [f"{name}: failed: the loss is not finite" in out for name in failed] == [True, True]
    assert f"{', '.join(failed)} failed: repeat the command" in err.splitlines()[-1]
    assert (tmp_path / "out" / "report.md").is_file()


def test_data_without_a_language_is_refused_before_anything_is_trained(
    scenes: Path, tmp_path: Path, fails: Fails
) -> None:
    more = ("--set", 'data.languages=["de","en","tlh"]', "--only", "sentences.*")
    assert "captions/tlh.tsv" in fails(*words(scenes, tmp_path / "out", *more))
    assert not (tmp_path / "out").exists()


def test_the_share_of_a_ceiling(tmp_path: Path) -> None:
    claim = {"name": "one", "claim": "What helps.", "systems": ["best", "united"], "ceiling": "united"}
    study = Study(Claims.model_validate({"claims": [claim]}), tmp_path, tmp_path, (0, 1), ())
    for system, values in {"best": (10.0, 20.0), "united": (30.0, 20.0)}.items():
        for seed, value in enumerate(values):
            file = tmp_path / system / f"seed{seed}" / "figures.json"
            file.parent.mkdir(parents=True)
            file.write_text(json.dumps({"csls_r1": value}), "utf-8")
    study.write_report("One", "the command")
    report = (tmp_path / "report.md").read_text("utf-8")
    assert re.search(r"^\| best \| 2 \| 15.0 ± 7.1 \| 60.0 ± 28.3 \|$", report, re.MULTILINE)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--seeds", "0,0"], "--seeds 0,0: give whole numbers from 0, each once"),
        (["--seeds", "one"], "--seeds one: give whole numbers"),
        (["--only", "spam.*"], "--only spam.*: no such trial"),
        (["--set", "spam=1"], "unknown key spam"),
        (["--data", "none"], "'none' does not exist"),
    ],
)
def test_wrong_use_is_one_line(
    scenes: Path, tmp_path: Path, fails: Fails, more: list[str], said: str
) -> None:
    only = [] if "--only" in more else ["--only", f"sentences.{SYSTEM}.0"]
    assert said in fails(*words(scenes, tmp_path / "out", *only, *more))
    assert not (tmp_path / "out").exists()
