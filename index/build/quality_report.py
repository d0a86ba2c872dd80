"""Stage of a build: measures how well a version answers, for its manifest (confidence/quality.py).

Sentences with a translation in the index are asked as in questions.py, with their translations among the
candidates and without them. Figures are cross-validated: each half of the questions is measured with a
calibration fitted on the other half.
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
    Indexes,
    Pair,
    PairQuestions,
    ask,
    ask_scenes,
    mean_length,
    questions,
)
from index.build.reading import lines_of
from index.confidence import MIN_CONFIDENCE
from index.confidence.calibration import (
    COVERAGE,
    FEATURES,
    LENGTHS,
    Calibration,
    calibration_error,
    fit,
)
from index.confidence.domain import Domain
from index.confidence.quality import Confidence, HubnessEntry, PairQuality, risk_coverage
from index.encoder.bundle import Bundle
from index.progress import Progress
from index.search.sentence_index import SentenceIndex
from index.search.word_index import WordIndex
from index.search.word_vectors import WordVectors
from index.storage.index_manifest import IndexManifest
from index.storage.versions import DOMAIN
from index.vectors.neighbourhoods import csls_scores, skewness
from index.vectors.vector_index import drawn_rows

MAX_QUESTIONS = 4000  # over all pairs of languages
LEAST_QUESTIONS = 100  # of an index; with fewer nothing is fitted
LEAST_ACCURACY = 0.3  # on the scenes, or nothing is fitted on them
CALIBRATION_FOLDS = 2
OTHERS_ASKED = 2000  # texts of other kinds, over all pairs of languages
NEAR_SHARE = 0.1  # of the best answers to these may count as near
# Evidence that a fit leaves out. Cosines are higher in some kinds of text than in others, the number of
# candidates hardly varies within an index, and scenes are short and lack a word.
UNUSED = ("cosine", "log_candidates", "length")
USED = np.array([name not in UNUSED for name in FEATURES + LENGTHS + COVERAGE])
CHOICE_ROUNDS = 3  # of choosing answers and fitting to those chosen
LINES_MEASURED = 200  # of each pair, if the files of a build are aligned line by line
HUBNESS_SAMPLE = 2000  # sentences of each language


def calibrate(
    indexes: Indexes,
    scenes: Mapping[str, Probes] | None = None,
    asked_scenes: Mapping[str, Probes] | None = None,
    seed: int = 0,
    progress: Callable[[int], None] = lambda pairs: None,
) -> tuple[Confidence | None, dict[Pair, PairQuality]]:
    """Fit a confidence on aligned sentences, or else on scenes, and measure each pair of aligned languages.

    `asked_scenes` are asked in place of the scenes that stand among the answers. The confidence is None if
    there are too few of both. `progress` is called with 1 after each ordered pair of languages.
    """
    random = np.random.default_rng(seed)
    lengths = {code: mean_length(index) for code, index in indexes.items()}
    asked: dict[Pair, PairQuestions] = {}
    for pair in permutations(indexes, 2):
        source, target = (indexes[code] for code in pair)
        rows, answers = questions(
            source, target, -(-MAX_QUESTIONS // (len(indexes) * (len(indexes) - 1))), random
        )
        if len(rows):
            asked[pair] = ask(indexes, pair, rows, answers, lengths)
        progress(1)
    if sum(map(len, asked.values())) >= LEAST_QUESTIONS:
        confidence, chances = _fit_confidence(asked, lengths, random, "aligned")
        return confidence, {pair: _quality(answered, chances[pair]) for pair, answered in asked.items()}
    quality = {pair: _quality(answered, None) for pair, answered in asked.items()}
    scenes = scenes or {}
    asked = _ask_scenes(indexes, asked_scenes or scenes, scenes, lengths)
    count = sum(map(len, asked.values()))
    answered_right = sum(len(answered) * answered.accuracy for answered in asked.values())
    # Scenes that an encoder hardly understands say nothing about its confidence in other text.
    if count < LEAST_QUESTIONS or answered_right < LEAST_ACCURACY * count:
        return None, quality
    return _fit_confidence(asked, lengths, random, "scenes")[0], quality


def measure_lines(
    indexes: Indexes,
    lines: Mapping[str, NDArray[np.int64]],
    fitted: Confidence | None,
    seed: int = 0,
) -> dict[Pair, PairQuality]:
    """Measure the quality of each pair on lines with the same number in files aligned line by line.

    `lines` (rows,): the line number of each sentence. Translating does not use this alignment. Answers are
    ordered by the `fitted` confidence, as users get them; `ece` is left out, since the confidence was not
    fitted on these lines.
    """
    random = np.random.default_rng(seed)
    lengths = {code: mean_length(index) for code, index in indexes.items()}
    measured = {}
    with Progress(len(indexes) * (len(indexes) - 1), unit="pairs", label="measure") as bar:
        for source, target in permutations(indexes, 2):
            shared, rows, answers = np.intersect1d(lines[source], lines[target], return_indices=True)
            drawn = np.sort(random.permutation(len(shared))[:LINES_MEASURED])
            if len(drawn):
                right = [[row] for row in answers[drawn].tolist()]
                answered = ask(indexes, (source, target), rows[drawn], right, lengths)
                calibration = fitted and fitted.lengths
                chances = _chances(calibration, answered.values) if calibration else None
                measured[source, target] = _quality(answered, chances).model_copy(update={"ece": None})
            bar.advance()
    return measured


def _ask_scenes(
    indexes: Indexes,
    asked_scenes: Mapping[str, Probes],
    scenes: Mapping[str, Probes],
    lengths: Mapping[str, float],
) -> dict[Pair, PairQuestions]:
    """Ask scenes in each pair of languages; an index of one language is asked in others of its encoder."""
    sources = scenes if len(indexes) == 1 else [code for code in indexes if code in scenes]
    pairs = [(source, target) for target in indexes for source in sources if source != target]
    asked = {}
    for seed, (source, target) in enumerate(pairs):
        if target in scenes:
            rows = scenes[source].draw(-(-MAX_QUESTIONS // len(pairs)), seed)
            aligned = asked_scenes[source].take(rows), scenes[target].take(rows)
            asked[source, target] = ask_scenes(indexes, (source, target), *aligned, lengths)
    return asked


def _fit_confidence(
    asked: Mapping[Pair, PairQuestions],
    lengths: Mapping[str, float],
    random: np.random.Generator,
    source: Literal["aligned", "scenes"],
) -> tuple[Confidence, dict[Pair, NDArray[np.float64]]]:
    """Fit a confidence, and compute each answer's probability from a fit on the other half, (2 n, k)."""
    chances = {pair: np.zeros(answered.right.shape) for pair, answered in asked.items()}
    folds = {
        pair: np.tile(random.integers(CALIBRATION_FOLDS, size=len(answered)), 2)
        for pair, answered in asked.items()
    }
    for fold in range(CALIBRATION_FOLDS):
        calibration = fit_choice(*_selected(asked, {pair: folds[pair] != fold for pair in asked}))
        for pair, answered in asked.items():
            held_out = folds[pair] == fold
            chances[pair][held_out] = _chances(calibration, answered.values[held_out])
    return _confidence(asked, chances, lengths, source), chances


def fit_choice(values: NDArray[np.float64], right: NDArray[np.bool_]) -> Calibration:
    """Fit the probability that the answer chosen for a question, the one with the highest, is right.

    `values` (n, k, 10): the features of k answers to each question; `right` (n, k): which are right. The
    first fit is to all answers, each later one to the answers that the fit before it chooses.
    """
    calibration = fit(values.reshape(-1, values.shape[2]), right.ravel())
    for _ in range(CHOICE_ROUNDS):
        chosen = np.arange(len(values)), _chances(calibration, values).argmax(axis=1)
        calibration = fit(values[chosen], right[chosen])
    return calibration


def _chances(calibration: Calibration, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, k, features) -> (n, k) probabilities."""
    return calibration.probability(values.reshape(-1, values.shape[2])).reshape(values.shape[:2])


def measure_hubness(indexes: Mapping[str, SentenceIndex]) -> dict[Pair, HubnessEntry]:
    """Measure the skewness of a sample of each language, by cosine and by CSLS with the index's means."""
    rows = {code: drawn_rows(len(index), HUBNESS_SAMPLE) for code, index in indexes.items()}
    vectors = {code: index.vectors.reconstruct(rows[code]) for code, index in indexes.items()}
    hubness = {}
    for source, target in permutations(indexes, 2):
        cosines = vectors[source] @ vectors[target].T
        # The mean of a question is left out: it is the same for all its answers.
        scores = csls_scores(cosines, np.zeros(1), indexes[target].means_from(source)[rows[target]])
        hubness[source, target] = HubnessEntry(cosine=skewness(cosines), csls=skewness(scores))
    return hubness


def _selected(
    asked: Mapping[Pair, PairQuestions], chosen: Mapping[Pair, NDArray[np.bool_]]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The features of the chosen questions of all pairs, concatenated, and which answers are right.

    Features that are not USED are 0, so that their weights will be.
    """
    values = [USED * answered.values[chosen[pair]] for pair, answered in asked.items()]
    return np.concatenate(values), np.concatenate([asked[pair].right[chosen[pair]] for pair in asked])


def _confidence(
    asked: Mapping[Pair, PairQuestions],
    chances: Mapping[Pair, NDArray[np.float64]],
    lengths: Mapping[str, float],
    source: Literal["aligned", "scenes"],
) -> Confidence:
    all_questions = {pair: np.ones(len(answered.right), bool) for pair, answered in asked.items()}
    values, right = _selected(asked, all_questions)
    chance = np.concatenate([chances[pair] for pair in asked])
    chosen = np.arange(len(chance)), chance.argmax(axis=1)
    return Confidence(
        source=source,
        n=len(right),
        ece=calibration_error(chance[chosen], right[chosen]),
        curve=risk_coverage(chance[chosen], right[chosen]),
        plain=fit(values[:, 0, : len(FEATURES)], right[:, 0]),
        lengths=fit_choice(values, right),
        length=dict(lengths),
    )


def _quality(answered: PairQuestions, chances: NDArray[np.float64] | None) -> PairQuality:
    """The quality of a pair, with answers ordered by the chances (2 n, k); without chances, by score."""
    chances = -np.arange(answered.right.shape[1], dtype=float)[None] if chances is None else chances
    order = np.broadcast_to(np.argsort(-chances, axis=1, kind="stable"), answered.right.shape)
    right = np.take_along_axis(answered.right, order, 1)
    return PairQuality(
        r1=float(right[: len(answered), 0].mean()),
        r10=float(answered.right_in_ten[: len(answered)].mean()),
        n=len(answered),
        ece=None if len(chances) == 1 else calibration_error(chances.max(axis=1), right[:, 0]),
    )


def with_quality(job: Job, manifest: IndexManifest, *, by_line: bool = False) -> IndexManifest:
    """Add the hubness and quality of each pair of languages and the fitted confidence to a manifest.

    `by_line`: the corpora are aligned line by line, which is used for measuring only.
    """
    scenes = _probes(job, probes.scenes)
    asked_scenes = _probes(job, lambda code: probes.shortened(probes.scenes(code)))
    others = _probes(job, lambda code: [text for _, text in probes.other_kinds(code)])
    words = _words(job, manifest)
    indexes = damp_attractors(job, partial(_opened, job, manifest, words), others)
    with Progress(len(indexes) * (len(indexes) - 1), unit="pairs", label="calibrate") as bar:
        fitted, quality = calibrate(indexes, scenes, asked_scenes, progress=bar.advance)
    if by_line:
        quality = measure_lines(indexes, {code: lines_of(job, code) for code in indexes}, fitted) | quality
    table, domain = fit_domain(job, indexes, scenes, others)
    save_array(job.path(DOMAIN), table)
    confidence = (fitted or unaligned(job.bundle)).model_copy(update={"domain": domain})
    if domain is not None:
        fitted_domain = Domain(table, domain, job.encoder.tokens)
        fitted_manifest = manifest.model_copy(update={"confidence": confidence})
        near = near_threshold(_opened(job, fitted_manifest, words, fitted_domain), others)
        confidence = confidence.model_copy(update={"near": near})
    return manifest.model_copy(
        update={
            "calibrated": confidence.source != "fixed",
            "confidence": confidence,
            "quality": {f"{source}-{target}": entry for (source, target), entry in quality.items()},
            "hubness": {f"{a}-{b}": entry for (a, b), entry in measure_hubness(indexes).items()},
        }
    )


def near_threshold(indexes: Indexes, others: Mapping[str, Probes]) -> float:
    """The confidence that only NEAR_SHARE of the best answers to text of other kinds reach."""
    pairs = [(source, target) for target in indexes for source in others if source != target]
    chances = []
    for seed, (source, target) in enumerate(pairs):
        asked = others[source].take(others[source].draw(-(-OTHERS_ASKED // len(pairs)), seed))
        answers = indexes[target].search(asked.vectors, source, 1, asked.texts)
        chances += [matches[0].confidence for matches in answers]
    return min(float(np.quantile(chances, 1 - NEAR_SHARE)), MIN_CONFIDENCE) if chances else MIN_CONFIDENCE


def _opened(
    job: Job,
    manifest: IndexManifest,
    words: Mapping[str, WordVectors],
    domain: Domain | None = None,
) -> dict[str, SentenceIndex]:
    return {
        code: SentenceIndex.open(
            job.work,
            code,
            manifest,
            calibration=job.bundle.manifest.calibration,
            domain=domain,
            words=words,
            threads=job.threads,
        )
        for code in manifest.languages
    }


def _words(job: Job, manifest: IndexManifest) -> dict[str, WordVectors]:
    return {
        code: WordVectors(code, WordIndex.open(job.work, code, manifest, threads=job.threads), job.encoder)
        for code in manifest.languages
    }


def _probes(job: Job, texts_in: Callable[[str], Sequence[str]]) -> dict[str, Probes]:
    """The probes of each language of the encoder; none for an encoder that was not calibrated on captions."""
    if job.bundle.manifest.calibration is None:
        return {}
    texts = {code: texts_in(code) for code in job.bundle.manifest.languages}
    return {code: Probes.of(lines, job.encoder, code) for code, lines in texts.items() if lines}


def unaligned(bundle: Bundle) -> Confidence:
    """The confidence of an index with too few aligned sentences: that of the encoder, if it has one."""
    fitted = bundle.manifest.calibration
    return Confidence(source="encoder", n=fitted.n, ece=fitted.ece) if fitted else Confidence()
