"""Clusters of sentences: by meaning where vision taught them, by language where not (globetrotter, A.4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from evaluation.reports.document import Block, Grid, Heading, Text, text
from index.errors import UsageError
from training.papers.experiments.sentences import Frozen, encoded

Rows = NDArray[np.int64]
SHOWN, SENTENCES = 3, 3  # clusters, and sentences of each
DRAWS = 20  # shuffles that an expectation is the mean of
ROUNDS = 50  # of k-means


@dataclass(frozen=True)
class Clusters:
    """What k-means finds in one encoder's space, and what it would find if languages were dealt by chance.

    purity: share of sentences in their cluster's most frequent language, per cent. entropy: of the language
    within a cluster, in bits, mean over sentences. information: normalised mutual information of cluster and
    language, 0 to 1. together: pairs of captions of one picture in two languages that share a cluster, per
    cent. examples: sentences with their language.
    """

    name: str
    measures: Mapping[str, float]
    expected: Mapping[str, float]
    examples: Sequence[Sequence[tuple[str, str]]]


def cluster(encoder: Frozen, texts: Mapping[str, Sequence[str]], k: int, seed: int) -> Clusters:
    """Cluster all sentences of `texts`, language -> lines, row i about the same picture in each.

    UsageError if there are fewer than k sentences.
    """
    sentences = [(code, line) for code, lines in texts.items() for line in lines]
    if len(sentences) < k:
        raise UsageError(f"{len(sentences)} sentences make no {k} clusters: lower --clusters")
    found = k_means(np.concatenate(list(encoded(encoder, texts).values())), k, seed)
    languages = np.repeat(np.arange(len(texts)), [len(lines) for lines in texts.values()])
    draw = np.random.default_rng(seed)
    chance = [measured(found, draw.permutation(languages)) for _ in range(DRAWS)]
    expected = {key: float(np.mean([one[key] for one in chance])) for key in chance[0]}
    sizes = np.bincount(found) / len(found)
    return Clusters(
        encoder.name,
        measured(found, languages) | {"together": _together(found.reshape(len(texts), -1))},
        expected | {"together": 100 * float((sizes**2).sum())},
        [_examples(sentences, np.flatnonzero(found == number), draw) for number in range(min(k, SHOWN))],
    )


def k_means(vectors: NDArray[np.float32], k: int, seed: int) -> Rows:
    """The cluster (n,) of each of (n, d) rows."""
    fewest = max(1, len(vectors) // k)  # faiss warns of fewer points a cluster than that
    means = faiss.Kmeans(
        vectors.shape[1], k, niter=ROUNDS, seed=seed, min_points_per_centroid=min(39, fewest),
        max_points_per_centroid=len(vectors),
    )  # fmt: skip
    means.train(np.ascontiguousarray(vectors))
    _, nearest = means.index.search(np.ascontiguousarray(vectors), 1)
    found: Rows = nearest[:, 0].astype(np.int64)
    return found


def measured(clusters: Rows, languages: Rows) -> dict[str, float]:
    """Purity in per cent, entropy in bits and normalised mutual information, of two labels (n,)."""
    counts = np.zeros((clusters.max() + 1, languages.max() + 1))
    np.add.at(counts, (clusters, languages), 1)
    joint = counts / counts.sum()
    within = entropy(joint) - entropy(joint.sum(axis=1))  # H(language | cluster)
    alone = entropy(joint.sum(axis=0)), entropy(joint.sum(axis=1))
    shared = max(0.0, alone[0] - within)
    return {
        "purity": 100 * float(counts.max(axis=1).sum() / counts.sum()),
        "entropy": within,
        "information": shared / max(1e-12, float(np.mean(alone))),
    }


def entropy(shares: NDArray[np.float64]) -> float:
    """-Σ p log2 p of shares that sum to 1, in bits."""
    some = shares[shares > 0]
    return float(-(some * np.log2(some)).sum())


def _together(clusters: Rows) -> float:
    """(languages, n) clusters of captions, a column a picture -> per cent of pairs in a column that agree."""
    count = len(clusters)
    agree = (clusters[:, None] == clusters[None]).mean(axis=2)
    return 100 * float((agree.sum() - count) / (count * (count - 1)))


def _examples(
    sentences: Sequence[tuple[str, str]], members: Rows, draw: np.random.Generator
) -> list[tuple[str, str]]:
    return [sentences[i] for i in draw.permutation(members)[:SENTENCES]]


def facts(found: Sequence[Clusters], texts: Mapping[str, Sequence[str]], k: int) -> dict[str, Any]:
    """For report.json."""
    counts = {code: len(lines) for code, lines in texts.items()}
    systems = [
        {"name": one.name, "measures": one.measures, "expected": one.expected, "examples": one.examples}
        for one in found
    ]
    return {"clusters": k, "sentences": counts, "systems": systems}


def blocks(found: Sequence[Clusters], texts: Mapping[str, Sequence[str]], k: int) -> list[Block]:
    """For report.md."""
    count = sum(map(len, texts.values()))
    head = ["", "purity (%)", "entropy (bits)", "information", "one picture together (%)"]
    rows = [
        [name, f"{m['purity']:.1f}", f"{m['entropy']:.2f}", f"{m['information']:.3f}", f"{m['together']:.1f}"]
        for one in found
        for name, m in ((one.name, one.measures), (f"{one.name}, by chance", one.expected))
    ]
    parts: list[Block] = [
        text(
            f"k-means, k = {k}, of {count} captions of split test, the same pictures in {', '.join(texts)}.",
            "Purity and entropy are of languages within a cluster, information is the normalised mutual",
            "information of cluster and language: high purity means clusters by language. Together are",
            "captions of one picture in two languages. By chance: the same clusters, labels dealt anew.",
        ),
        Grid(head, rows),
    ]
    for one in found:
        parts += [Heading(2, one.name)]
        for number, examples in enumerate(one.examples, 1):
            parts += [Heading(3, f"cluster {number}"), Text(tuple(f"({c}) {s}" for c, s in examples), True)]
    return parts


def line(one: Clusters) -> str:
    """The measures, and what chance gives."""
    told = ", ".join(f"{key} {value:.2f} ({one.expected[key]:.2f})" for key, value in one.measures.items())
    return f"{one.name}: {told}"
