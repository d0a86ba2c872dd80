"""`passepartout bundle card`: what was measured goes into the bundle's card, and nothing else changes."""

import shutil
from pathlib import Path

import pytest

from evaluation.reports.card import SECTION_TITLE
from evaluation.reports.report import read_report
from index.encoder.bundle import Bundle, open_bundle, with_section
from index.encoder.text_encoder import TextEncoder
from passepartout import run
from tests.bundles import make_corpus
from tests.conftest import Fails


@pytest.fixture(scope="module")
def measured(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A copy of the bundle, and a report of it."""
    folder = tmp_path_factory.mktemp("card")
    copy, corpus, report = folder / "bundle", folder / "corpus", folder / "report"
    shutil.copytree(bundle.folder, copy)
    make_corpus(corpus, count=40)
    command = ["evaluate", "aligned", "--encoder", str(copy), "--data", str(corpus), "--out", str(report)]
    assert run(command) == 0
    return copy, report


def test_the_card_has_every_pair(measured: tuple[Path, Path], tmp_path: Path) -> None:
    folder, report = tmp_path / "bundle", measured[1]
    shutil.copytree(measured[0], folder)
    before = open_bundle(folder)
    assert run(["bundle", "card", str(folder), "--report", str(report)]) == 0
    after = open_bundle(folder)
    page = after.card.read_text("utf-8")
    (table,) = read_report(report).tables
    for pair in table.pairs:
        figures = f"{pair.measures['csls_r1']:.1f} | {pair.measures['csls_r10']:.1f}"
        assert f"| {pair.source} → {pair.target} | 40 | {figures} |" in page
    assert "passepartout evaluate aligned --encoder BUNDLE --data DIR --out REPORT" in page
    assert str(tmp_path.parent) not in page
    assert after.manifest.measures["corpus_csls_r1"] == round(table.means["all"]["csls_r1"], 4)
    changed = {name for name, entry in after.manifest.files.items() if entry != before.manifest.files[name]}
    assert changed == {"README.md"}
    assert TextEncoder(after).encode(["a dog"]).shape == (1, after.manifest.dimension)


def test_a_report_of_another_bundle_is_refused(
    measured: tuple[Path, Path], tmp_path: Path, fails: Fails
) -> None:
    folder = shutil.copytree(measured[0], tmp_path / "bundle")
    assert run(["bundle", "card", str(folder), "--report", str(measured[1])]) == 0
    # The card is part of the bundle: the report is now of what it was before.
    assert "is of another" in fails("bundle", "card", folder, "--report", measured[1])


def test_what_is_no_report_is_refused(measured: tuple[Path, Path], tmp_path: Path, fails: Fails) -> None:
    assert "not a suite's report" in fails("bundle", "card", measured[0], "--report", tmp_path, code=1)


def test_a_section_takes_the_place_of_the_one_before() -> None:
    page = "# a@1\n\nWhat it is.\n\n## Limits\n\nMany.\n"
    one = with_section(page, SECTION_TITLE, "first\n\n### part\n\n1\n")
    two = with_section(one, SECTION_TITLE, "second\n")
    assert two == f"# a@1\n\nWhat it is.\n\n## {SECTION_TITLE}\n\nsecond\n\n## Limits\n\nMany.\n"
    assert with_section("# a@1\n", SECTION_TITLE, "third\n") == f"# a@1\n\n## {SECTION_TITLE}\n\nthird\n"
