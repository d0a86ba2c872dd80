"""What a new language cost the others and what it reaches, by retrieval (globetrotter, A.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.measures.scores import PairScore, Table, score_pool
from evaluation.reports.document import Block, Grid, Heading, Text, text
from evaluation.reports.report import NAMES
from evaluation.suites.translation import POOL
from training.loop.add_language import AddedLanguage
from training.papers.experiments.sentences import Frozen, Model, benchmarks, encoded, photo_captions

MEASURES = ("csls_r1", "csls_r10", "positives")
Means = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Comparison:
    """One set of lines that correspond, measured before and after `language` came."""

    name: str
    language: str
    before: Table
    after: Table

    def means(self) -> dict[str, Means]:
        """Pairs of languages -> "before" and "after" -> mean of each measure over these pairs, per cent."""
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
    """On validation captions and on every benchmark set that has two of the languages."""
    codes = added.run.recipe.data.languages
    before = Model("before", codes[:-1], added.before, added.base.tokenizer())
    after = Model("after", codes, added.after, added.run.tokenizer())
    sets = {"validation captions": photo_captions(data, "dev", codes, POOL), **benchmarks(data, codes)}
    return [
        Comparison(name, added.language, _table(name, texts, before), _table(name, texts, after))
        for name, texts in sets.items()
    ]


def facts(added: AddedLanguage, comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """For report.json; measures of each pair of languages as (before, after)."""
    result = added.run.result()
    return {
        "run": str(added.base.folder),
        "language": added.language,
        "new_subwords": added.new_tokens,
        **{key: result[key] for key in ("epochs", "steps", "seconds")},
        "sets": {c.name: {"lines": c.after.n, "means": c.means(), "pairs": _pairs(c)} for c in comparisons},
    }


def blocks(added: AddedLanguage, comparisons: Sequence[Comparison]) -> list[Block]:
    """For report.md."""
    result, count = added.run.result(), added.new_tokens
    told = (
        f"{added.language} was learned in {result['epochs']} epochs, {result['steps']} steps, "
        f"{result['seconds']} s.",
        f"The vocabulary got {count} subwords." if count else "The vocabulary spells it as it is.",
        "Before: the run without the language. After: the run with it. Ranked by CSLS; positives found is "
        "Globetrotter's measure (5.2). Per cent, means over ordered pairs.",
    )
    found: list[Block] = [Text(told, listed=True)]
    for comparison in comparisons:
        found += [
            Heading(2, comparison.name),
            text(f"{comparison.after.n} lines in {', '.join(comparison.after.languages)}."),
            _grid(comparison),
        ]
    return found


def line(comparison: Comparison) -> str:
    """R@10 of a set in a line."""
    told = [
        f"{group} {means['before']['csls_r10']:.1f} -> {means['after']['csls_r10']:.1f}"
        for group, means in comparison.means().items()
    ]
    return f"{comparison.name} R@10: " + ", ".join(told)


def _grid(comparison: Comparison) -> Grid:
    head = ["", *(f"{NAMES[key]} {when}" for key in MEASURES for when in ("before", "after", "change"))]
    rows = []
    for group, means in comparison.means().items():
        before, after = means["before"], means["after"]
        rows.append(
            [group]
            + [
                cell
                for k in MEASURES
                for cell in (f"{before[k]:.1f}", f"{after[k]:.1f}", f"{after[k] - before[k]:+.1f}")
            ]
        )
    return Grid(head, rows)


def _table(name: str, texts: Mapping[str, Sequence[str]], encoder: Frozen) -> Table:
    return score_pool(name, "", encoded(encoder, texts))


def _means(table: Table, chosen: Sequence[bool]) -> dict[str, float]:
    pairs = [pair for pair, taken in zip(table.pairs, chosen, strict=True) if taken]
    return {key: float(np.mean([pair.measures[key] for pair in pairs])) for key in MEASURES}


def _pairs(comparison: Comparison) -> list[dict[str, Any]]:
    both = zip(comparison.before.pairs, comparison.after.pairs, strict=True)
    return [_pair(before, after) for before, after in both]


def _pair(before: PairScore, after: PairScore) -> dict[str, Any]:
    changes = {key: (before.measures[key], after.measures[key]) for key in after.measures}
    return {"source": after.source, "target": after.target, **changes}
