"""Stage of a build: how well a version answers, which its manifest reports (confidence/quality.py).

A sentence with a translation in the index is asked twice: with its translations among the candidates, and
with them taken away, so that a low confidence means "not in the index" too. What is right is known either
way. The fit that a figure is measured on never saw its questions: two halves, each measured by the other.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import permutations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from index.build import probes
from index.build.attractors import damp_attractors
from index.build.job import Job, save_array
from index.build.kinds import fit_domain
from index.build.probes import Probes
from index.build.questions import (
    FOUND,
    Indexes,
    Pair,
    PairQuestions,
    ask,
    ask_scenes,
    mean_length,
    questions,
)
from index.confidence.calibration import FEATURES, calibration_error, fit
from index.confidence.quality import Confidence, HubnessEntry, PairQuality, risk_coverage
from index.encoder.bundle import Bundle
from index.progress import Progress
from index.search.hubness import csls_scores, skewness
from index.search.sentence_index import SentenceIndex
from index.search.vector_index import drawn_rows
from index.storage.index_manifest import IndexManifest
from index.storage.versions import DOMAIN

QUESTIONS = 4000  # over all pairs of languages
LEAST = 100  # questions of an index; with fewer nothing is fitted
LEAST_RIGHT = 0.3  # of the scenes, or nothing is fitted on them
FOLDS = 2
SAMPLE = 2000  # sentences of each language whose hubness is measured


def calibrate(
    indexes: Indexes,
    scenes: Mapping[str, Probes] | None = None,
    seed: int = 0,
    progress: Callable[[int], None] = lambda pairs: None,
) -> tuple[Confidence | None, dict[Pair, PairQuality]]:
    """The confidence that aligned sentences teach, else that scenes do, None where neither can; the
    quality of each pair with aligned sentences.

    `progress` is told of each ordered pair of languages.
    """
    random = np.random.default_rng(seed)
    lengths = {code: mean_length(index) for code, index in indexes.items()}
    asked: dict[Pair, PairQuestions] = {}
    for pair in permutations(indexes, 2):
        source, target = (indexes[code] for code in pair)
        rows, answers = questions(
            source, target, -(-QUESTIONS // (len(indexes) * (len(indexes) - 1))), random
        )
        if len(rows):
            asked[pair] = ask(indexes, pair, rows, answers, lengths)
        progress(1)
    if sum(len(answered.place) for answered in asked.values()) >= LEAST:
        confidence, chances = _fitted(asked, lengths, random, "aligned")
        return confidence, {pair: _quality(answered, chances[pair]) for pair, answered in asked.items()}
    quality = {pair: _quality(answered, None) for pair, answered in asked.items()}
    shown = _ask_scenes(indexes, scenes or {}, lengths)
    places = np.concatenate([np.zeros(0), *(answered.place for answered in shown.values())])
    # An encoder that hardly knows the scenes learns nothing by them.
    if len(places) < LEAST or float((places == 0).mean()) < LEAST_RIGHT:
        return None, quality
    return _fitted(shown, lengths, random, "scenes")[0], quality


def _ask_scenes(
    indexes: Indexes, scenes: Mapping[str, Probes], lengths: Mapping[str, float]
) -> dict[Pair, PairQuestions]:
    """Scenes of each pair; an index of one language is asked in others, which its encoder knows."""
    sources = scenes if len(indexes) == 1 else [code for code in indexes if code in scenes]
    pairs = [(source, target) for target in indexes for source in sources if source != target]
    shown = {}
    for seed, (source, target) in enumerate(pairs):
        if target in scenes:
            rows = scenes[source].draw(-(-QUESTIONS // len(pairs)), seed)
            halves = scenes[source].take(rows), scenes[target].take(rows)
            shown[source, target] = ask_scenes(indexes, (source, target), *halves, lengths)
    return shown


def _fitted(
    asked: Mapping[Pair, PairQuestions],
    lengths: Mapping[str, float],
    random: np.random.Generator,
    source: Literal["aligned", "scenes"],
) -> tuple[Confidence, dict[Pair, NDArray[np.float64]]]:
    """What the answers teach, and what each was given by those of the other half."""
    chances = {pair: np.zeros(len(answered.right)) for pair, answered in asked.items()}
    folds = {
        pair: np.tile(random.integers(FOLDS, size=len(answered.place)), 2) for pair, answered in asked.items()
    }
    for fold in range(FOLDS):
        learned = fit(*_together(asked, {pair: folds[pair] != fold for pair in asked}))
        for pair, answered in asked.items():
            held_out = folds[pair] == fold
            chances[pair][held_out] = learned.probability(answered.values[held_out])
    return _confidence(asked, chances, lengths, source), chances


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
    source: Literal["aligned", "scenes"],
) -> Confidence:
    every = {pair: np.ones(len(answered.right), bool) for pair, answered in asked.items()}
    values, right = _together(asked, every)
    chance = np.concatenate([chances[pair] for pair in asked])
    return Confidence(
        source=source,
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
    scenes = _probes(job, probes.scenes)
    others = _probes(job, lambda code: [text for _, text in probes.other_kinds(code)])
    indexes = damp_attractors(job, partial(_opened, job, manifest), others)
    with Progress(len(indexes) * (len(indexes) - 1), unit="pairs", label="calibrate") as bar:
        fitted, quality = calibrate(indexes, scenes, progress=bar.advance)
    table, domain = fit_domain(job, indexes, scenes, others)
    save_array(job.path(DOMAIN), table)
    confidence = (fitted or unaligned(job.bundle)).model_copy(update={"domain": domain})
    return manifest.model_copy(
        update={
            "calibrated": confidence.source != "fixed",
            "confidence": confidence,
            "quality": {f"{source}-{target}": entry for (source, target), entry in quality.items()},
            "hubness": {f"{a}-{b}": entry for (a, b), entry in measure_hubness(indexes).items()},
        }
    )


def _opened(job: Job, manifest: IndexManifest) -> dict[str, SentenceIndex]:
    return {
        code: SentenceIndex.open(job.work, code, manifest, threads=job.threads) for code in manifest.languages
    }


def _probes(job: Job, texts_in: Callable[[str], Sequence[str]]) -> dict[str, Probes]:
    """Those of each language of the encoder; none where no captions calibrated it: scenes are captions."""
    if job.bundle.manifest.calibration is None:
        return {}
    texts = {code: texts_in(code) for code in job.bundle.manifest.languages}
    return {code: Probes.of(lines, job.encoder, code) for code, lines in texts.items() if lines}


def unaligned(bundle: Bundle) -> Confidence:
    """The confidence of an index that has not enough aligned sentences."""
    fitted = bundle.manifest.calibration
    return Confidence(source="encoder", n=fitted.n, ece=fitted.ece) if fitted else Confidence()
