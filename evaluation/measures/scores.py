"""Tables of a report: measures for every ordered pair of languages, and their means."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations

import numpy as np

from evaluation.measures.recall import positives_by_pair, recall_at, tied_share
from index.arrays import Vectors
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, csls

ALL_PAIRS = "all"


@dataclass(frozen=True)
class PairScore:
    """The measures of `n` queries in `source` answered in `target`, in per cent by name."""

    source: str
    target: str
    n: int
    measures: Mapping[str, float]


@dataclass(frozen=True)
class Table:
    """One table of a report.

    `means`: by group of pairs, `all` and others, the mean of each measure, and measures without pairs.
    """

    name: str
    note: str
    n: int
    languages: tuple[str, ...]
    means: Mapping[str, Mapping[str, float]]
    pairs: tuple[PairScore, ...] = field(default=())


def score_translation(name: str, note: str, vectors: Mapping[str, Vectors]) -> Table:
    """Score retrieval between all ordered pairs of {language: (n, d) unit rows}; row i is the same scene."""
    pairs = [score_pair(source, target, vectors) for source, target in permutations(vectors, 2)]
    return table_of_pairs(name, note, pairs)


def score_pair(source: str, target: str, vectors: Mapping[str, Vectors]) -> PairScore:
    """Score one pair: R@1, R@5 and R@10 among the sentences of `target`, by cosine and CSLS (k = 10).

    Where `target` has more rows than `source`, those after are candidates that are never right.
    """
    cosines = vectors[source] @ vectors[target].T
    rankings: dict[str, Vectors] = {"cosine": cosines, "csls": csls(cosines, CSLS_NEIGHBOURS)}
    recalls = {name: recall_at(similarities) for name, similarities in rankings.items()}
    measures = {f"{name}_r{k}": value for name, found in recalls.items() for k, value in found.items()}
    return PairScore(source, target, len(cosines), measures | {"tied": tied_share(cosines)})


def score_pool(name: str, note: str, vectors: Mapping[str, Vectors]) -> Table:
    """Score Globetrotter's measure by pair and overall, together with retrieval between each pair."""
    shares = positives_by_pair(vectors)
    scored = (score_pair(*pair, vectors) for pair in shares)
    pairs = [
        replace(pair, measures={"positives": share, **pair.measures})
        for pair, share in zip(scored, shares.values(), strict=True)
    ]
    return table_of_pairs(name, note, pairs)


def table_of_pairs(name: str, note: str, pairs: Sequence[PairScore]) -> Table:
    """Make a table with the means of its pairs; pairs without queries are left out of the means."""
    languages = tuple(dict.fromkeys(code for pair in pairs for code in (pair.source, pair.target)))
    means = {ALL_PAIRS: mean_measures([pair for pair in pairs if pair.n])}
    return Table(name, note, max(pair.n for pair in pairs), languages, means, tuple(pairs))


def mean_measures(pairs: Sequence[PairScore]) -> dict[str, float]:
    """The mean of each measure over pairs; nothing without any."""
    measured = pairs[0].measures if pairs else ()
    return {key: float(np.mean([pair.measures[key] for pair in pairs])) for key in measured}
