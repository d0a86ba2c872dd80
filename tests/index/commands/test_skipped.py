"""A build that does not give up, and what it says."""

from pathlib import Path

import pytest

from index.encoder.bundle import Bundle
from passepartout import run
from tests.bundles import sentences

ENGLISH, GERMAN = sentences("en")[::30], sentences("de")[::30]


def build(bundle: Bundle, out: Path, *more: str) -> int:
    return run(
        ["index", "build", "--encoder", str(bundle.folder), "--out", str(out), "--threads", "1", *more]
    )


def test_bad_lines_are_skipped_listed_and_refused_if_strict(
    bundle: Bundle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{one}\t{two}" for one, two in zip(ENGLISH, GERMAN, strict=True)]
    (tmp_path / "x.tsv").write_text("\n".join(["en\tde", *rows, *["one cell"] * 12]) + "\n", "utf-8")
    given = ("--corpus", str(tmp_path / "x.tsv"))
    assert build(bundle, tmp_path / "index", *given) == 0
    captured = capsys.readouterr()
    assert f"en: {len(rows)} sentences" in captured.out
    skipped = [line for line in captured.err.splitlines() if line.startswith("skipped: ")]
    assert len(skipped) == 10
    assert skipped[0] == f"skipped: x.tsv, line {len(rows) + 2}: 1 cells, but line 1 names 2: fix the line"
    assert "12 bad lines or units were skipped" in captured.err
    assert len((tmp_path / "index.skipped.tsv").read_text("utf-8").splitlines()) == 13
    assert build(bundle, tmp_path / "other", *given, "--strict") == 2
    assert f"line {len(rows) + 2}: 1 cells" in capsys.readouterr().err
    assert not (tmp_path / "other").exists() or not list((tmp_path / "other").glob("versions/*"))


def test_nothing_but_bad_lines_is_an_error(
    bundle: Bundle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.jsonl").write_text("no\nJSON\n", "utf-8")
    assert build(bundle, tmp_path / "index", "--corpus", f"en={tmp_path / 'x.jsonl'}") == 2
    assert "x.jsonl, line 1: not JSON" in capsys.readouterr().err


def test_swapped_languages_are_reported(
    bundle: Bundle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.txt").write_text("\n".join(ENGLISH) + "\n", "utf-8")
    assert build(bundle, tmp_path / "index", "--corpus", f"de={tmp_path / 'x.txt'}") == 2
    assert "these lines look like English, not German: are languages swapped?" in capsys.readouterr().err
    (tmp_path / "y.txt").write_text("\n".join([*ENGLISH, *GERMAN[:3]]) + "\n", "utf-8")
    assert build(bundle, tmp_path / "index", "--corpus", f"de={tmp_path / 'y.txt'}") == 0
    assert "de: most lines look like English: are languages swapped?" in capsys.readouterr().out


def test_columns_on_the_command_line(
    bundle: Bundle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{one};{two}" for one, two in zip(ENGLISH, GERMAN, strict=True)]
    (tmp_path / "x.csv").write_text("\n".join(["English;German", *rows]) + "\n", "utf-16")
    given = ("--corpus", str(tmp_path / "x.csv"), "--columns", "source=English,target=German")
    assert build(bundle, tmp_path / "index", *given) == 0
    assert f"de: {len(rows)} sentences, {len(rows)} aligned units" in capsys.readouterr().out
    assert build(bundle, tmp_path / "index", *given[:3], "source=Satz") == 2
