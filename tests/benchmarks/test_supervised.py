"""The supervised encoder that suites compare with."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.supervised import main
from evaluation.reports.report import read_report
from index.build.probes import scenes


@pytest.mark.slow
def test_suites_of_sentences_measure_it(tmp_path: Path) -> None:
    for code in ("en", "de"):
        (tmp_path / f"{code}.txt").write_text("\n".join(scenes(code)[:40]) + "\n", "utf-8")
    words = ["aligned", "--data", str(tmp_path), "--out", str(tmp_path / "report")]
    CliRunner().invoke(main, words, catch_exceptions=False)
    report = read_report(tmp_path / "report")
    assert report.bundle == "use-multilingual@3"
    assert report.tables[0].means["all"]["csls_r1"] > 90
