"""Clusters a frozen encoder's sentences: by meaning or by language (Globetrotter, A.4)?"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

import faiss
import numpy as np
from numpy.typing import NDArray

from evaluation.reports.document import Block, Heading, Text
from index.errors import UsageError
from training.papers.frozen import Frozen, encoded
from training.papers.report import ExperimentReport

Rows = NDArray[np.int64]
CLUSTERS_SHOWN, SENTENCES_SHOWN = 3, 3  # in the report, and of each such cluster
CHANCE_SHUFFLES = 20  # of the languages, for the values expected by chance
KMEANS_ITERATIONS = 50  # of k-means


@dataclass(frozen=True)
class Clusters:
    """Measures of one encoder's clusters, and the values expected if languages were assigned at random.

    purity: share of sentences in their cluster's most frequent language, per cent. entropy: of the language
    within a cluster, in bits, mean over sentences. information: normalised mutual information of cluster and
    language, 0 to 1. together: pairs of captions of one picture in two languages that share a cluster, per
    cent. examples: (language, sentence) pairs of the first clusters.
    """

    name: str
    measures: Mapping[str, float]
    expected: Mapping[str, float]
    examples: Sequence[Sequence[tuple[str, str]]]


def cluster(encoder: Frozen, texts: Mapping[str, Sequence[str]], k: int, seed: int) -> Clusters:
    """Cluster all sentences of `texts`, language -> lines, row i about the same picture in each.

    Raises UsageError if there are fewer than k sentences.
    """
    sentences = [(code, line) for code, lines in texts.items() for line in lines]
    if len(sentences) < k:
        raise UsageError(f"{len(sentences)} sentences make no {k} clusters: lower --clusters")
    clusters = k_means(np.concatenate(list(encoded(encoder, texts).values())), k, seed)
    languages = np.repeat(np.arange(len(texts)), [len(lines) for lines in texts.values()])
    draw = np.random.default_rng(seed)
    chance = [measured(clusters, draw.permutation(languages)) for _ in range(CHANCE_SHUFFLES)]
    expected = {key: float(np.mean([measures[key] for measures in chance])) for key in chance[0]}
    sizes = np.bincount(clusters) / len(clusters)
    return Clusters(
        encoder.name,
        measured(clusters, languages) | {"together": _together(clusters.reshape(len(texts), -1))},
        expected | {"together": 100 * float((sizes**2).sum())},
        [
            [sentences[i] for i in draw.permutation(np.flatnonzero(clusters == number))[:SENTENCES_SHOWN]]
            for number in range(min(k, CLUSTERS_SHOWN))
        ],
    )


def k_means(vectors: NDArray[np.float32], k: int, seed: int) -> Rows:
    """Assign each of (n, d) rows to one of `k` clusters: (n,) numbers below k."""
    fewest = max(1, len(vectors) // k)  # faiss warns of clusters with fewer points
    means = faiss.Kmeans(
        vectors.shape[1], k, niter=KMEANS_ITERATIONS, seed=seed, min_points_per_centroid=min(39, fewest),
        max_points_per_centroid=len(vectors),
    )  # fmt: skip
    means.train(np.ascontiguousarray(vectors))
    _, nearest = means.index.search(np.ascontiguousarray(vectors), 1)
    return cast(Rows, nearest[:, 0].astype(np.int64))


def measured(clusters: Rows, languages: Rows) -> dict[str, float]:
    """Compute purity in per cent, entropy in bits and normalised mutual information, of labels (n,)."""
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
    positive = shares[shares > 0]
    return float(-(positive * np.log2(positive)).sum())


def _together(clusters: Rows) -> float:
    """The per cent of pairs in a column that agree; (languages, n) clusters, a column for each picture."""
    count = len(clusters)
    agree = (clusters[:, None] == clusters[None]).mean(axis=2)
    return 100 * float((agree.sum() - count) / (count * (count - 1)))


def report(
    encoders: Sequence[Frozen], texts: Mapping[str, Sequence[str]], k: int, seed: int
) -> ExperimentReport:
    """Cluster `texts` by each encoder and describe what came out."""
    systems = [cluster(encoder, texts, k, seed) for encoder in encoders]
    note = (
        f"k-means, k = {k}, of {sum(map(len, texts.values()))} captions of split test, the same pictures "
        f"in {', '.join(texts)}. Purity (per cent) and entropy (bits) are of languages within a cluster, "
        "information is the normalised mutual information of cluster and language: high purity means "
        "clusters by language. Together: per cent of pairs of captions of one picture. By chance: the "
        "same clusters, labels dealt anew."
    )
    figures = {
        system.name: {
            key + when: measures[key]
            for key in system.measures
            for when, measures in (("", system.measures), (" by chance", system.expected))
        }
        for system in systems
    }
    parts: list[Block] = []
    for system in systems:
        for number, examples in enumerate(system.examples, 1):
            lines = tuple(f"({code}) {sentence}" for code, sentence in examples)
            parts += [Heading(2, f"{system.name}, cluster {number}"), Text(lines, True)]
    counts = {code: len(lines) for code, lines in texts.items()}
    facts = {"clusters": k, "sentences": counts, "systems": [asdict(system) for system in systems]}
    return ExperimentReport("Clusters", note, figures, facts, parts)
