from dataclasses import replace
from pathlib import Path

import pytest

from evaluation.measures.scores import PairScore, Table
from evaluation.reports.report import (
    Report,
    as_markdown,
    grid,
    name,
    page,
    read_report,
    summary,
    write_report,
)
from index.errors import DamagedError, UsageError

PAIRS = (
    PairScore(
        "en", "de", 4, {"cosine_r1": 25, "cosine_r10": 50, "csls_r1": 37.46, "csls_r10": 75, "tied": 0}
    ),
    PairScore(
        "de", "en", 4, {"cosine_r1": 35, "cosine_r10": 60, "csls_r1": 47.54, "csls_r10": 85, "tied": 1}
    ),
)
MEANS = {"all": {"cosine_r1": 30.0, "cosine_r10": 55.0, "csls_r1": 42.5, "csls_r10": 80.0, "tied": 0.5}}
TABLE = Table("set", "Line i is the same.", 4, ("en", "de"), MEANS, PAIRS)
POOL = Table(
    "pool", "One pool.", 4, ("en", "de"), {"all": {"positives": 61.25}, "en,de": {"positives": 70.0}}
)
REPORT = Report(
    "multi30k", "passepartout evaluate multi30k", "small@1", "ab" * 32, "2026-11-20", (TABLE, POOL)
)


def test_markdown_has_the_pairs_the_means_and_where_they_come_from() -> None:
    lines = as_markdown(REPORT).splitlines()
    assert lines[0] == "# multi30k: small@1"
    assert any("ab" * 32 in line for line in lines)
    assert "passepartout evaluate multi30k" in lines
    means = "all: cosine R@1 30.0, cosine R@10 55.0, CSLS R@1 42.5, CSLS R@10 80.0, tied 0.5"
    assert f"Line i is the same. n = 4, 2 languages. Mean over {means}." in lines
    start = lines.index("| from → to | queries | CSLS R@1 | CSLS R@10 |")
    assert lines[start + 2 : start + 4] == ["| en → de | 4 | 37.5 | 75.0 |", "| de → en | 4 | 47.5 | 85.0 |"]
    assert "| en,de | 70.0 |" in lines


def test_many_languages_have_a_row_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.reports.report.PAIR_ROWS", 1)
    lines = as_markdown(REPORT).splitlines()
    ways = [f"CSLS R@{k}, {way} in" for k in (1, 10) for way in ("asked", "answered")]
    assert f"| language | {' | '.join(ways)} |" in lines
    assert "| en | 37.5 | 47.5 | 75.0 | 85.0 |" in lines


def test_the_summary_is_a_line_a_group() -> None:
    assert summary(POOL) == [
        "pool n=4 all: positives found 61.2",
        "pool n=4 en,de: positives found 70.0",
    ]


def test_a_report_is_read_back(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "report"
    write_report(REPORT, folder)
    assert read_report(folder) == REPORT
    assert (folder / "report.md").read_text("utf-8") == as_markdown(REPORT)


@pytest.mark.parametrize("content", [None, "{", "{}", "[]", '{"tables": [{"name": "set"}]}'])
def test_a_report_that_cannot_be_read_is_named(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "report.json").write_text(content, "utf-8")
    with pytest.raises(DamagedError, match=r"report\.json: not a suite's report"):
        read_report(tmp_path)


def test_pairs_without_queries_show_what_they_have() -> None:
    pairs = (
        PairScore("en", "de", 0, {"coverage": 12.5}),
        PairScore("de", "en", 3, {"coverage": 50, "csls_p1": 9}),
    )
    table = Table("dictionary", "", 3, ("en", "de"), {"all": {"coverage": 31.25, "csls_p1": 9}}, pairs)
    lines = as_markdown(replace(REPORT, tables=(table,))).splitlines()
    assert "| en → de | 0 |  | 12.5 |" in lines
    assert "| de → en | 3 | 9.0 | 50.0 |" in lines


def test_measures_are_named_as_readers_know_them() -> None:
    assert (name("csls_p10"), name("mr"), name("another")) == ("CSLS P@10", "mR", "another")


def test_a_folder_that_cannot_be_is_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match="cannot be written"):
        write_report(REPORT, tmp_path / "file" / "report")


def test_tables_and_pages_are_markdown() -> None:
    table = grid(["from", "en|de"], [["**en**", "1.0"]])
    assert page(["# a < b", table]) == "# a < b\n\n| from | en\\|de |\n| --- | ---: |\n| **en** | 1.0 |\n"
