"""The figures of the shipped encoders that documents give are those of their cards."""

import json
import re

import pytest

from tests.docs.blocks import ROOT

README = (ROOT / "README.md").read_text("utf-8")
RESULTS = (ROOT / "docs/results.md").read_text("utf-8")


def mean(bundle: str, table: str, over: str) -> str:
    """The mean CSLS R@1 of a table of a card."""
    card = (ROOT / "models" / bundle / "README.md").read_text("utf-8")
    section = re.search(rf"^### {re.escape(table)}\n(.*?)(?=^##|\Z)", card, re.MULTILINE | re.DOTALL)
    assert section, f"the card of {bundle} has no table {table}"
    found = re.search(rf"{over}: [^;]*?CSLS R@1 ([\d.]+)", section[1])
    assert found, f"the card of {bundle} does not say what {table} has {over}"
    return found[1]


def row(text: str, beginning: str) -> str:
    (line,) = [line for line in text.splitlines() if line.startswith(beginning)]
    return line


FIGURES = [
    ("| captions (Multi30k", "| `multi30k` | 20 pairs", "multi30k_test_2016", "Mean over all"),
    ("| everyday scenes", "| `scenes` | 1,880", "everyday scenes", "Mean over all"),
    ("| things people say", "| `scenes` | 326", "everyday sayings", "Mean over all"),
]


@pytest.mark.parametrize(("in_readme", "in_results", "table", "over"), FIGURES)
def test_figures_are_those_of_the_card(in_readme: str, in_results: str, table: str, over: str) -> None:
    small, open_ = (mean(bundle, table, over) for bundle in ("small", "open"))
    assert f"| {open_} | {small} |" in row(README, in_readme)
    assert f"| {small} | {open_} |" in row(RESULTS, in_results)


@pytest.mark.parametrize("bundle", ["small", "open"])
def test_results_are_of_the_shipped_version(bundle: str) -> None:
    manifest = json.loads((ROOT / "models" / bundle / "manifest.json").read_text("utf-8"))
    assert f"`{manifest['name']}@{manifest['version']}`" in row(RESULTS, "| suite |")
