"""`passepartout evaluate` through the front door, on a real bundle."""

import hashlib
import json
from datetime import datetime
from pathlib import Path

import pytest

from index.encoder.bundle import Bundle
from passepartout import run
from tests.bundles import make_corpus
from tests.conftest import Fails


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    make_corpus(folder, count=60)
    return folder


def command(bundle: Bundle, corpus: Path, out: Path, suite: str = "aligned") -> list[str]:
    return ["evaluate", suite, "--encoder", str(bundle.folder), "--data", str(corpus), "--out", str(out)]


def test_evaluate_writes_the_report_and_prints_the_means(
    bundle: Bundle, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(command(bundle, corpus, tmp_path / "report")) == 0
    report = json.loads((tmp_path / "report" / "report.json").read_text("utf-8"))
    (table,) = report["tables"]
    assert (report["suite"], report["bundle"]) == ("aligned", "tiny@1")
    assert report["sha256"] == hashlib.sha256((bundle.folder / "manifest.json").read_bytes()).hexdigest()
    assert datetime.fromisoformat(report["date"]).tzinfo is not None
    assert report["command"] == (
        f"passepartout evaluate aligned --encoder {bundle.folder} --data {corpus} --out {tmp_path / 'report'}"
    )
    assert len(table["pairs"]) == 20
    assert set(table["means"]) == {"all"}
    assert "| from → to | queries | CSLS R@1 | CSLS R@10 |" in (tmp_path / "report" / "report.md").read_text(
        "utf-8"
    )
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{corpus.name} n=60 all: cosine R@1 ")
    assert f"CSLS R@10 {table['means']['all']['csls_r10']:.1f}" in line


def test_wrong_use_is_one_line_and_exit_2(bundle: Bundle, corpus: Path, tmp_path: Path, fails: Fails) -> None:
    nowhere = command(bundle, Path("/nowhere/at/all"), tmp_path / "report")
    assert "/nowhere/at/all is not a folder" in fails(*nowhere)
    assert "multi30k" in fails(*command(bundle, corpus, tmp_path / "report", "wmt"))
    assert not (tmp_path / "report").exists()
