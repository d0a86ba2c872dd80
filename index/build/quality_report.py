"""Stage of a build: how well a version answers, which its manifest reports (confidence/quality.py).

A sentence with a translation in the index is asked twice: with its translations among the candidates, and
with them taken away, so that a low confidence means "not in the index" too. What is right is known either
way. The fit that a figure is measured on never saw its questions: two halves, each measured by the other.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from index.build.job import Job
from index.confidence.calibration import FEATURES, calibration_error, features, fit, with_lengths
from index.confidence.quality import Confidence, HubnessEntry, PairQuality, risk_coverage
from index.encoder.bundle import Bundle
from index.encoder.vectors import Vectors
from index.progress import Progress
from index.search.hubness import csls_scores, skewness
from index.search.ranking import gaps, select
from index.search.sentence_index import SentenceIndex
from index.search.vector_index import CANDIDATES, Rows, drawn_rows
from index.storage.index_manifest import IndexManifest

QUESTIONS = 4000  # over all pairs of languages
LEAST = 100  # questions of an index; with fewer nothing is fitted
TRIES = 4  # sentences looked at for each question wanted: not all need have a translation
FOLDS = 2
FOUND = 10
SAMPLE = 2000  # sentences of each language whose hubness is measured

Pair = tuple[str, str]


@dataclass(frozen=True)
class PairQuestions:
    """Questions of one pair: those first with their translations there, then, again, without.

    `values` (2 n, 6) are the features of the best answers, `right` (2 n,); `place` (n,) is that of the
    first translation among the ten best, FOUND where there is none.
    """

    values: NDArray[np.float64]
    right: NDArray[np.bool_]
    place: NDArray[np.int64]


def calibrate(
    indexes: Mapping[str, SentenceIndex], seed: int = 0, progress: Callable[[int], None] = lambda pairs: None
) -> tuple[Confidence | None, dict[Pair, PairQuality]]:
    """The confidence that aligned sentences teach, None where there are too few; the quality of each pair.

    `progress` is told of each ordered pair of languages.
    """
    random = np.random.default_rng(seed)
    lengths = {code: mean_length(index) for code, index in indexes.items()}
    pairs = list(permutations(indexes, 2))
    asked: dict[Pair, PairQuestions] = {}
    for source, target in pairs:
        share = -(-QUESTIONS // len(pairs))
        rows, answers = questions(indexes[source], indexes[target], share, random)
        if len(rows):
            asked[source, target] = ask(indexes, (source, target), rows, answers, lengths)
        progress(1)
    if sum(len(answered.place) for answered in asked.values()) < LEAST:
        return None, {pair: _quality(answered, None) for pair, answered in asked.items()}
    chances = {pair: np.zeros(len(answered.right)) for pair, answered in asked.items()}
    folds = {
        pair: np.tile(random.integers(FOLDS, size=len(answered.place)), 2) for pair, answered in asked.items()
    }
    for fold in range(FOLDS):
        learned = fit(*_together(asked, {pair: folds[pair] != fold for pair in asked}))
        for pair, answered in asked.items():
            held_out = folds[pair] == fold
            chances[pair][held_out] = learned.probability(answered.values[held_out])
    confidence = _confidence(asked, chances, lengths)
    return confidence, {pair: _quality(answered, chances[pair]) for pair, answered in asked.items()}


def questions(
    source: SentenceIndex, target: SentenceIndex, count: int, random: np.random.Generator
) -> tuple[Rows, list[list[int]]]:
    """Up to `count` rows of `source` that have translations in `target`, and the rows of these."""
    if source.groups is None or target.groups is None:
        return np.zeros(0, np.int64), []
    tried = random.choice(len(source), min(len(source), TRIES * count), replace=False, shuffle=False)
    rows: list[int] = []
    answers: list[list[int]] = []
    for row in tried.tolist():
        if len(rows) < count and (translations := target.groups.rows(source.groups.of(row))):
            rows.append(row)
            answers.append(translations)
    return np.array(rows, np.int64), answers


def ask(
    indexes: Mapping[str, SentenceIndex],
    pair: Pair,
    rows: Rows,
    answers: list[list[int]],
    lengths: Mapping[str, float],
) -> PairQuestions:
    """Ask rows of the first language in the second, with and without their answers."""
    source, target = (indexes[code] for code in pair)
    queries = source.vectors.reconstruct(rows)
    cosines, neighbours = target.vectors.search(queries, CANDIDATES)
    right = np.stack(
        [np.isin(row, translations) for row, translations in zip(neighbours, answers, strict=True)]
    )
    means = target.means_from(pair[0])
    question_lengths = source.lengths(rows) - lengths[pair[0]]

    def top(cosines: Vectors, neighbours: Rows) -> tuple[NDArray[np.float64], Rows]:
        near, best, scores, _ = select(cosines, neighbours, means, FOUND)
        values = features(near[:, 0], scores[:, 0], gaps(scores)[:, 0], len(target))
        return with_lengths(values, question_lengths, target.lengths(best[:, 0]) - lengths[pair[1]]), best

    there, best = top(cosines, neighbours)
    hits = np.stack([np.isin(row, translations) for row, translations in zip(best, answers, strict=True)])
    place = np.where(hits.any(axis=1), hits.argmax(axis=1), FOUND)
    # Answers taken away go to the end, as far from the question as can be.
    left = np.where(right, np.float32(-1), cosines)
    order = np.argsort(-left, axis=1, kind="stable")
    gone, _ = top(np.take_along_axis(left, order, 1), np.take_along_axis(neighbours, order, 1))
    return PairQuestions(
        np.concatenate([there, gone]), np.concatenate([place == 0, np.zeros(len(rows), bool)]), place
    )


def mean_length(index: SentenceIndex) -> float:
    """The mean of log(1 + characters) over sentences that lie evenly."""
    rows = np.unique(np.linspace(0, len(index) - 1, SAMPLE).astype(np.int64))
    return float(index.lengths(rows).mean())


def measure_hubness(indexes: Mapping[str, SentenceIndex]) -> dict[Pair, HubnessEntry]:
    """Skewness over a sample of each language, by cosine and by CSLS with the neighbourhoods of the index."""
    rows = {code: drawn_rows(len(index), SAMPLE) for code, index in indexes.items()}
    vectors = {code: index.vectors.reconstruct(rows[code]) for code, index in indexes.items()}
    hubness = {}
    for source, target in permutations(indexes, 2):
        cosines = vectors[source] @ vectors[target].T
        # The mean around a question is the same for all its answers.
        scores = csls_scores(cosines, np.zeros(1), indexes[target].means_from(source)[rows[target]])
        hubness[source, target] = HubnessEntry(cosine=skewness(cosines), csls=skewness(scores))
    return hubness


def _together(
    asked: Mapping[Pair, PairQuestions], chosen: Mapping[Pair, NDArray[np.bool_]]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Features and rightness of the chosen answers of all pairs."""
    values = [answered.values[chosen[pair]] for pair, answered in asked.items()]
    return np.concatenate(values), np.concatenate([asked[pair].right[chosen[pair]] for pair in asked])


def _confidence(
    asked: Mapping[Pair, PairQuestions],
    chances: Mapping[Pair, NDArray[np.float64]],
    lengths: Mapping[str, float],
) -> Confidence:
    every = {pair: np.ones(len(answered.right), bool) for pair, answered in asked.items()}
    values, right = _together(asked, every)
    chance = np.concatenate([chances[pair] for pair in asked])
    return Confidence(
        source="aligned",
        n=len(right),
        ece=calibration_error(chance, right),
        curve=risk_coverage(chance, right),
        plain=fit(values[:, : len(FEATURES)], right),
        lengths=fit(values, right),
        length=dict(lengths),
    )


def _quality(answered: PairQuestions, chances: NDArray[np.float64] | None) -> PairQuality:
    return PairQuality(
        r1=float((answered.place == 0).mean()),
        r10=float((answered.place < FOUND).mean()),
        n=len(answered.place),
        ece=None if chances is None else calibration_error(chances, answered.right),
    )


def with_quality(job: Job, manifest: IndexManifest) -> IndexManifest:
    """The manifest with the hubness and quality of each pair of languages and the confidence to be had."""
    indexes = {
        code: SentenceIndex.open(
            job.work,
            code,
            count=entry.sentences,
            dimension=manifest.dimension,
            sources=manifest.sources(code),
            links=entry.links,
            threads=job.threads,
            search=entry.search,
        )
        for code, entry in manifest.languages.items()
    }
    with Progress(len(indexes) * (len(indexes) - 1), unit="pairs", label="calibrate") as bar:
        fitted, quality = calibrate(indexes, progress=bar.advance)
    confidence = fitted or unaligned(job.bundle)
    return manifest.model_copy(
        update={
            "calibrated": confidence.source in ("aligned", "encoder"),
            "confidence": confidence,
            "quality": {f"{source}-{target}": entry for (source, target), entry in quality.items()},
            "hubness": {f"{a}-{b}": entry for (a, b), entry in measure_hubness(indexes).items()},
        }
    )


def unaligned(bundle: Bundle) -> Confidence:
    """The confidence of an index that has not enough aligned sentences."""
    fitted = bundle.manifest.calibration
    return Confidence(source="encoder", n=fitted.n, ece=fitted.ece) if fitted else Confidence()
