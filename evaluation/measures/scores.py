"""Tables of a report: measures for every ordered pair of languages, and their means."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.recall import positives_by_pair, recall_at, retrieved_positives, tied_share
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, csls

ALL_PAIRS = "all"
Vectors = NDArray[np.floating]


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

    `means`: by group of languages (`all` and the chosen ones), the mean of each measure over ordered pairs,
    and measures without pairs.
    """

    name: str
    note: str
    n: int
    languages: tuple[str, ...]
    means: Mapping[str, Mapping[str, float]]
    pairs: tuple[PairScore, ...] = field(default=())


def score_translation(
    name: str, note: str, vectors: Mapping[str, Vectors], chosen: Sequence[str] = ()
) -> Table:
    """Score retrieval between all ordered pairs of {language: (n, d) unit rows}; row i is the same scene."""
    pairs = [score_pair(source, target, vectors) for source, target in permutations(vectors, 2)]
    return table_of_pairs(name, note, pairs, chosen)


def score_pair(source: str, target: str, vectors: Mapping[str, Vectors]) -> PairScore:
    """Score one pair: R@1, R@5 and R@10 among the sentences of `target`, by cosine and CSLS (k = 10).

    Where `target` has more rows than `source`, those after are candidates that are never right.
    """
    cosines = vectors[source] @ vectors[target].T
    measures = _named("cosine", recall_at(cosines)) | _named(
        "csls", recall_at(csls(cosines, CSLS_NEIGHBOURS))
    )
    return PairScore(source, target, len(cosines), measures | {"tied": tied_share(cosines)})


def score_pool(name: str, note: str, vectors: Mapping[str, Vectors], chosen: Sequence[str] = ()) -> Table:
    """Score Globetrotter's measure by pair and overall, together with retrieval between each pair."""
    shares = positives_by_pair(vectors)
    scored = (score_pair(*pair, vectors) for pair in shares)
    pairs = [
        replace(pair, measures={"positives": share, **pair.measures})
        for pair, share in zip(scored, shares.values(), strict=True)
    ]
    table = table_of_pairs(name, note, pairs, chosen)
    # A pool of fewer languages has fewer distractors: its measure is not a mean over pairs of the full pool.
    means = {
        label: {
            **table.means[label],
            "positives": retrieved_positives({code: vectors[code] for code in codes}),
        }
        for label, codes in language_groups(vectors, chosen)
    }
    return replace(table, means=means)


def table_of_pairs(name: str, note: str, pairs: Sequence[PairScore], chosen: Sequence[str] = ()) -> Table:
    """Make a table with the means of its pairs; pairs without queries are left out of the means."""
    languages = tuple(dict.fromkeys(code for pair in pairs for code in (pair.source, pair.target)))
    means = {}
    for label, codes in language_groups(languages, chosen):
        inside = [pair for pair in pairs if {pair.source, pair.target} <= set(codes) and pair.n]
        means[label] = mean_measures(inside)
    return Table(name, note, max(pair.n for pair in pairs), languages, means, tuple(pairs))


def language_groups(languages: Iterable[str], chosen: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The groups of languages to average over: all, and the chosen ones if at least two but not all."""
    codes = tuple(languages)
    some = tuple(code for code in chosen if code in codes)
    return [(ALL_PAIRS, codes)] + ([(",".join(some), some)] if 2 <= len(some) < len(codes) else [])


def mean_measures(pairs: Sequence[PairScore]) -> dict[str, float]:
    """The mean of each measure over pairs; nothing without any."""
    return (
        {key: float(np.mean([pair.measures[key] for pair in pairs])) for key in pairs[0].measures}
        if pairs
        else {}
    )


def _named(ranking: str, recalls: Mapping[int, float]) -> dict[str, float]:
    return {f"{ranking}_r{k}": value for k, value in recalls.items()}
