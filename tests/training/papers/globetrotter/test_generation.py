"""`passepartout experiment generate`: what is written comes from the vector."""

import json
from pathlib import Path

import pytest

from passepartout import run as passepartout
from tests.training.test_cli import Capture, fails
from training.loop.run import Run


def words(base: Run, data: Path, out: Path, *more: str) -> list[str]:
    return [
        "experiment",
        "generate",
        "--encoder",
        str(base.folder),
        "--data",
        str(data),
        "--out",
        str(out),
        *more,
    ]


def test_it_writes_what_the_vector_says(three: Run, drawn: Path, tmp_path: Path, capsys: Capture) -> None:
    pytest.importorskip("sacrebleu")
    more = ("--epochs", "6", "--width", "64", "--sentences", "60")
    assert passepartout(words(three, drawn, tmp_path, *more)) == 0
    printed = capsys.readouterr()
    assert "drawn-bag: chrF" in printed.out
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert (report["set"], report["sentences"]) == ("synthetic_test", 60)
    assert set(report["languages"]) == {"en", "de", "pt"}
    for code, found in report["languages"].items():
        assert found["translations"]["chrf"] > found["control"]["chrf"] + 2, code
        assert all(text and not set(text) & set("▁<>") for _, text, _ in found["examples"])
    english = report["languages"]["en"]
    assert english["translations"]["chrf"] > english["control"]["chrf"] + 4
    others = [report["languages"][code]["translations"]["bleu"] for code in ("de", "pt")]
    assert report["figures"]["drawn-bag"]["BLEU"] == pytest.approx(sum(others) / 2)
    assert "| en (itself) |" in (tmp_path / "report.md").read_text("utf-8")


def test_wrong_use_is_one_line(three: Run, drawn: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out"
    assert "does not know fr" in fails(capsys, 2, *words(three, drawn, out, "--target", "fr"))
    assert "multiple of 4" in fails(capsys, 2, *words(three, drawn, out, "--width", "30"))
    assert not out.exists()
