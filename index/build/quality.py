"""Stage of a build: fits the confidence of a version and measures how well it answers, for its manifest.

Figures are cross-validated: each half of the questions is measured with a model fitted on the other half.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from index.answers.sentence_index import SentenceIndex
from index.answers.translator import Translator
from index.answers.word_index import WordIndex
from index.build import probes
from index.build.attractors import damp_attractors
from index.build.calibration import (
    Indexes,
    Pair,
    Questions,
    aligned,
    ask,
    fit_confidence,
    fit_paraphrases,
    likeliest,
    scene_pools,
    sentence_pools,
)
from index.build.domain import fit_domain
from index.build.job import Job, save_array
from index.build.probes import Probes
from index.confidence import MIN_CONFIDENCE
from index.confidence.models import Confidence, Models, calibration_error
from index.progress import Progress
from index.storage.index_manifest import HubnessEntry, IndexManifest, PairQuality
from index.storage.versions import DOMAIN
from index.vectors.neighbourhoods import csls_scores, skewness
from index.vectors.vector_index import drawn_rows

MAX_QUESTIONS = 4000  # over all pairs of languages
LEAST_QUESTIONS = 100  # of an index; with fewer nothing is fitted
LEAST_ACCURACY = 0.3  # on the scenes, or nothing is fitted on them
OTHERS_ASKED = 2000  # texts of other kinds, over all pairs of languages
NEAR_SHARE = 0.1  # of the best answers to these may count as near
HUBNESS_SAMPLE = 2000  # sentences of each language


def with_quality(job: Job, manifest: IndexManifest, *, known: bool = False) -> IndexManifest:
    """Add the hubness and quality of each pair of languages and the fitted confidence to a manifest.

    `known`: the encoder may have learned from the aligned sentences, so that nothing is fitted on them.
    """
    scenes = _probes(job, probes.scenes)
    asked_scenes = _probes(job, lambda code: probes.shortened(probes.scenes(code)))
    others = _probes(job, lambda code: [text for _, text in probes.other_kinds(code)])
    words = {
        code: WordIndex.open(job.work, code, manifest, job.encoder, job.threads)
        for code in manifest.languages
    }

    def opened() -> dict[str, SentenceIndex]:
        return {
            code: SentenceIndex.open(job.work, code, manifest, job.threads) for code in manifest.languages
        }

    indexes = Indexes(damp_attractors(job, opened, others), words)
    with Progress(len(words) * (len(words) - 1), unit="pairs", label="calibrate") as bar:
        fitted, quality = calibrate(
            indexes, job.bundle.manifest.calibration, scenes, asked_scenes, known=known, progress=bar.advance
        )
    table, domain = fit_domain(job, indexes.sentences, scenes, others)
    save_array(job.path(DOMAIN), table)
    confidence = (fitted or manifest.confidence).model_copy(update={"domain": domain})
    lengths = confidence.lengths or indexes.mean_lengths()
    if paraphrase := fit_paraphrases(indexes, lengths, job.encoder, seed=0):
        models = paraphrase, *confidence.paraphrase
        confidence = confidence.model_copy(update={"paraphrase": models, "lengths": lengths})
    manifest = manifest.model_copy(
        update={
            "confidence": confidence,
            "quality": {f"{source}-{target}": entry for (source, target), entry in quality.items()},
            "hubness": {f"{a}-{b}": entry for (a, b), entry in measure_hubness(indexes.sentences).items()},
        }
    )
    if domain is None:
        return manifest
    near = near_threshold(
        Translator(manifest, job.encoder, indexes.sentences, words, None, None, table), others
    )
    return manifest.model_copy(update={"confidence": confidence.model_copy(update={"near": near})})


def _probes(job: Job, texts_in: Callable[[str], Sequence[str]]) -> dict[str, Probes]:
    """The probes of each language of the encoder; none for an encoder that was not fitted on any text."""
    if not job.bundle.manifest.calibration.sentence.n:
        return {}
    texts = {code: texts_in(code) for code in job.bundle.manifest.languages}
    return {code: Probes.of(lines, job.encoder, code) for code, lines in texts.items() if lines}


def calibrate(
    indexes: Indexes,
    encoder: Models,
    scenes: Mapping[str, Probes] | None = None,
    asked_scenes: Mapping[str, Probes] | None = None,
    seed: int = 0,
    known: bool = False,
    progress: Callable[[int], None] = lambda pairs: None,
) -> tuple[Confidence | None, dict[Pair, PairQuality]]:
    """Fit a confidence on aligned sentences, or else on scenes, and measure each pair of aligned languages.

    `encoder`: the models of the bundle. `asked_scenes` are asked in place of the scenes among the answers.
    `known`: never on the aligned sentences. Answers are measured in the order that users get them.
    The confidence is None if there are too few of both. `progress` is called with 1 after each ordered pair.
    """
    random, lengths = np.random.default_rng(seed), indexes.mean_lengths()
    asked: dict[Pair, Questions] = {}
    pairs = list(permutations(indexes.sentences, 2))
    for pair in pairs:
        rows, answers = aligned(indexes, pair, -(-MAX_QUESTIONS // len(pairs)), random)
        if len(rows):
            asked[pair] = ask(indexes, sentence_pools(indexes, pair, rows, answers), pair, lengths)
        progress(1)
    if not known and sum(map(len, asked.values())) >= LEAST_QUESTIONS:
        confidence, chances = fit_confidence(asked, lengths, random, "aligned", encoder)
        return confidence, {pair: _quality(answered, chances[pair]) for pair, answered in asked.items()}
    scenes = scenes or {}
    asked_of_scenes = _ask_scenes(indexes, asked_scenes or scenes, scenes, lengths)
    count = sum(map(len, asked_of_scenes.values()))
    right = sum(len(part) * part.first_right(part.table["score"]) for part in asked_of_scenes.values())
    # Scenes that an encoder hardly understands say nothing about its confidence in other text.
    fitted = None
    if count >= LEAST_QUESTIONS and right >= LEAST_ACCURACY * count:
        fitted = fit_confidence(asked_of_scenes, lengths, random, "scenes", encoder)[0]
    return fitted, {pair: _quality_by(answered, fitted) for pair, answered in asked.items()}


def _ask_scenes(
    indexes: Indexes,
    asked_scenes: Mapping[str, Probes],
    scenes: Mapping[str, Probes],
    lengths: Mapping[str, float],
) -> dict[Pair, Questions]:
    """Ask scenes in each pair of languages; an index of one language is asked in others of its encoder."""
    codes = indexes.sentences
    sources = scenes if len(codes) == 1 else [code for code in codes if code in scenes]
    pairs = [(source, target) for target in codes for source in sources if source != target]
    asked = {}
    for seed, pair in enumerate(pairs):
        source, target = pair
        if target in scenes:
            rows = scenes[source].draw(-(-MAX_QUESTIONS // len(pairs)), seed)
            pools = scene_pools(indexes, pair, asked_scenes[source].take(rows), scenes[target].take(rows))
            asked[pair] = ask(indexes, pools, pair, lengths)
    return asked


def _quality_by(answered: Questions, fitted: Confidence | None) -> PairQuality:
    """The quality of a pair by a confidence that was fitted on other sentences, whose `ece` is left out."""
    usable = fitted and fitted.sentence[0].weights.keys() <= answered.table.columns.keys()
    chances = fitted.sentence[0].probability(answered.table.columns) if fitted and usable else None
    return _quality(answered, chances).model_copy(update={"ece": None})


def _quality(answered: Questions, chances: NDArray[np.float64] | None) -> PairQuality:
    """The quality of a pair with answers in the order of their chances; without chances, of their scores."""
    order = answered.table["score"].astype(np.float64) if chances is None else chances
    chosen = likeliest(answered.table, order)
    return PairQuality(
        r1=answered.first_right(order),
        r10=float(answered.in_ten.mean()),
        n=len(answered),
        ece=None if chances is None else calibration_error(order[chosen], answered.table["right"][chosen]),
    )


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


def near_threshold(translator: Translator, others: Mapping[str, Probes]) -> float:
    """The confidence that only NEAR_SHARE of the best answers to text of other kinds reach."""
    targets = translator.sentence_indexes
    pairs = [(source, target) for target in targets for source in others if source != target]
    chances = []
    for seed, (source, target) in enumerate(pairs):
        asked = others[source].take(others[source].draw(-(-OTHERS_ASKED // len(pairs)), seed))
        answers = translator.sentences(list(asked.texts), source, target)
        chances += [row[0].confidence for row in answers]
    return min(float(np.quantile(chances, 1 - NEAR_SHARE)), MIN_CONFIDENCE) if chances else MIN_CONFIDENCE
