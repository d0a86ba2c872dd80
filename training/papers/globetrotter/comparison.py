"""Compares retrieval before and after a language is added to a run (Globetrotter, A.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, compress
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.measures.scores import Table, score_pool
from evaluation.reports.document import Block, Grid, Heading, Text, text
from evaluation.reports.report import NAMES
from evaluation.suites.translation import POOL_CAPTIONS
from training.papers.frozen import Model, benchmarks, encoded, photo_captions
from training.papers.globetrotter.add_language import AddedLanguage

MEASURES = ("csls_r1", "csls_r10", "positives")
Means = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Comparison:
    """Scores of one set of aligned lines, before and after `language` was added."""

    name: str
    language: str
    before: Table
    after: Table

    def means(self) -> dict[str, Means]:
        """Group of language pairs -> "before" and "after" -> mean of each measure, per cent."""
        groups = {
            "the other languages": [self.language not in (p.source, p.target) for p in self.after.pairs],
            f"from {self.language}": [self.language == p.source for p in self.after.pairs],
            f"to {self.language}": [self.language == p.target for p in self.after.pairs],
        }
        return {
            group: {"before": _means(self.before, chosen), "after": _means(self.after, chosen)}
            for group, chosen in groups.items()
            if any(chosen)
        }


def compare(added: AddedLanguage, data: Path) -> list[Comparison]:
    """Score validation captions and every benchmark set that has two of the languages."""
    codes = added.run.recipe.data.languages
    before = Model("before", codes[:-1], added.before, added.base.tokenizer())
    after = Model("after", codes, added.after, added.run.tokenizer())
    sets = {
        "validation captions": photo_captions(data, "dev", codes, POOL_CAPTIONS),
        **benchmarks(data, codes),
    }
    return [
        Comparison(name, added.language, *(score_pool(name, "", encoded(m, texts)) for m in (before, after)))
        for name, texts in sets.items()
    ]


def figures(added: AddedLanguage, comparisons: Sequence[Comparison]) -> dict[str, dict[str, float]]:
    """Set -> the old languages before and after, and the new one after, per cent."""
    groups = {
        "the others before": ("the other languages", "before"),
        "the others after": ("the other languages", "after"),
        "from the new one": (f"from {added.language}", "after"),
        "to the new one": (f"to {added.language}", "after"),
    }
    return {
        comparison.name: {
            f"{title}, {NAMES[key]}": means[group][when][key]
            for means in (comparison.means(),)
            for key in ("csls_r10", "positives")
            for title, (group, when) in groups.items()
            if group in means
        }
        for comparison in comparisons
    }


def facts(added: AddedLanguage, comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """What report.json has besides the figures; measures of each pair of languages as (before, after)."""
    result = added.run.result()
    return {
        "run": str(added.base.folder),
        "language": added.language,
        "new_subwords": added.new_tokens,
        **{key: result[key] for key in ("epochs", "steps", "seconds")},
        "sets": {c.name: {"lines": c.after.n, "means": c.means(), "pairs": _pairs(c)} for c in comparisons},
    }


def blocks(added: AddedLanguage, comparisons: Sequence[Comparison]) -> list[Block]:
    """The contents of report.md."""
    result, count = added.run.result(), added.new_tokens
    summary = (
        f"{added.language} was learned in {result['epochs']} epochs, {result['steps']} steps, "
        f"{result['seconds']} s.",
        f"The vocabulary got {count} subwords." if count else "The vocabulary spells it as it is.",
        "Before: the run without the language. After: the run with it. Ranked by CSLS; positives found is "
        "Globetrotter's measure (5.2). Per cent, means over ordered pairs.",
    )
    parts: list[Block] = [Text(summary, listed=True)]
    for comparison in comparisons:
        parts += [
            Heading(2, comparison.name),
            text(f"{comparison.after.n} lines in {', '.join(comparison.after.languages)}."),
            _grid(comparison),
        ]
    return parts


def _grid(comparison: Comparison) -> Grid:
    head = ["", *(f"{NAMES[key]} {when}" for key in MEASURES for when in ("before", "after", "change"))]
    rows = []
    for group, means in comparison.means().items():
        values = [(means["before"][key], means["after"][key]) for key in MEASURES]
        cells = ((f"{before:.1f}", f"{after:.1f}", f"{after - before:+.1f}") for before, after in values)
        rows.append([group, *chain.from_iterable(cells)])
    return Grid(head, rows)


def _means(table: Table, chosen: Sequence[bool]) -> dict[str, float]:
    pairs = list(compress(table.pairs, chosen))
    return {key: float(np.mean([pair.measures[key] for pair in pairs])) for key in MEASURES}


def _pairs(comparison: Comparison) -> list[dict[str, Any]]:
    return [
        {"source": after.source, "target": after.target}
        | {key: (before.measures[key], after.measures[key]) for key in after.measures}
        for before, after in zip(comparison.before.pairs, comparison.after.pairs, strict=True)
    ]
