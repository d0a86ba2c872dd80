"""Stage of a build: fits the confidence of a version and measures how well it answers, for its manifest.

Figures are cross-validated: each half of the questions is measured with a model fitted on the other half.
"""

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from index.answers.sentence_index import SentenceIndex
from index.answers.translator import Translator
from index.answers.word_index import WordIndex
from index.build import probes
from index.build.calibration import (
    Outcomes,
    ask,
    fit_confidence,
    fit_foreign,
    fit_paraphrases,
    likeliest,
)
from index.build.domain import fit_domain
from index.build.encoding import BuildJob
from index.build.pools import AddedScenes, Indexes, aligned, scene_pools, sentence_pools
from index.build.probes import Pair, Probes
from index.confidence import MIN_CONFIDENCE, PairQuality
from index.confidence.models import Confidence, calibration_error
from index.encoder.text_encoder import TextEncoder
from index.progress import Progress
from index.storage.index_manifest import IndexManifest
from index.storage.versions import DOMAIN_FILE

MAX_QUESTIONS = 4000  # over all pairs of languages, but for
LEAST_OF_PAIR = 20  # in each: of fewer, the share that is found says little
SCENES_ASKED = 1000  # over all pairs of languages
LEAST_QUESTIONS = 100  # of an index; with fewer nothing is fitted
LEAST_ACCURACY = 0.3  # on the scenes, or nothing is fitted on them
OTHERS_ASKED = 500  # texts of other kinds, over all pairs of languages; 1000 say the same (docs/research.md)
NEAR_ASKED = 250  # of these, over all pairs of languages
NEAR_SHARE = 0.1  # of the best answers to these may count as near


def with_quality(job: BuildJob, manifest: IndexManifest, *, known: bool) -> IndexManifest:
    """Add the quality of each pair of languages and the fitted confidence to a manifest.

    `known`: the encoder may have learned from the aligned sentences, so that nothing is fitted on them.
    """
    encoder = job.encoder
    # Nothing is measured in a language that the encoder does not know: it is found through others.
    understood = [code for code in manifest.languages if code in job.bundle.manifest.languages]
    words = {code: WordIndex.open(job.work, code, manifest, encoder, job.threads) for code in understood}
    sentences = {code: SentenceIndex.open(job.work, code, manifest, job.threads) for code in understood}
    # An encoder that was not fitted on any text is asked none.
    codes = job.bundle.manifest.languages if job.bundle.manifest.calibration.sentence.n else ()
    other_texts = {code: [text for _, text in probes.other_kinds(code)] for code in codes}
    others = probes.asked(
        sentences,
        [(code, target) for target in sentences for code in codes if code != target and other_texts[code]],
        other_texts.__getitem__,
        OTHERS_ASKED,
        encoder,
    )
    scenes = _drawn_scenes(job, sentences, codes)
    indexes = Indexes(sentences, words)
    lengths = indexes.mean_lengths()
    fitted, quality = calibrate(indexes, encoder, scenes, lengths, known=known)
    table, domain = fit_domain(job, sentences, scenes, others, other_texts)
    np.save(job.work / DOMAIN_FILE, table, allow_pickle=False)
    more: dict[str, object] = {"domain": domain}
    more["foreign_aligned"] = fit_foreign(indexes, encoder, np.random.default_rng(0))
    if paraphrase := fit_paraphrases(indexes, lengths, encoder):
        more |= {"paraphrase": paraphrase, "lengths": lengths}
    confidence = (fitted or manifest.confidence).model_copy(update=more)
    named = {f"{source}-{target}": entry for (source, target), entry in quality.items()}
    manifest = manifest.model_copy(update={"confidence": confidence, "quality": named})
    if domain is None:
        return manifest
    near = near_threshold(Translator(manifest, encoder, sentences, words, token_scores=table), others)
    return manifest.model_copy(update={"confidence": confidence.model_copy(update={"near": near})})


def _drawn_scenes(
    job: BuildJob, indexes: Mapping[str, SentenceIndex], codes: Sequence[str]
) -> dict[Pair, Probes]:
    """Ask scenes in each pair of languages: most in those that are both in the index, if it has several."""
    codes = [code for code in codes if probes.first_scenes(code)]
    pairs = [(source, target) for target in indexes for source in codes if source != target]
    measured = [pair for pair in pairs if len(indexes) == 1 or pair[0] in indexes]
    others = [pair for pair in pairs if pair not in measured]
    texts = {code: probes.shortened(probes.first_scenes(code)) for code in codes}
    few = SCENES_ASKED * len(others) // max(1, len(pairs))
    asked = probes.asked(indexes, measured, texts.__getitem__, SCENES_ASKED, job.encoder)
    return asked | probes.asked(indexes, others, texts.__getitem__, few, job.encoder)


def calibrate(
    indexes: Indexes,
    encoder: TextEncoder,
    scenes: Mapping[Pair, Probes],
    lengths: Mapping[str, float],
    *,
    known: bool,
) -> tuple[Confidence | None, dict[Pair, PairQuality]]:
    """Fit a confidence on aligned sentences, or else on scenes, and measure each pair of aligned languages.

    `lengths`: the mean length of each language's sentences. `known`: never on the aligned sentences. Answers
    are measured in the order that users get them. The confidence is None if there are too few of both.
    """
    random, models = np.random.default_rng(0), encoder.bundle.manifest.calibration
    asked: dict[Pair, Outcomes] = {}
    pairs = list(permutations(sorted(indexes.sentences), 2))
    most = max(LEAST_OF_PAIR, -(-MAX_QUESTIONS // max(1, len(pairs))))
    with Progress(len(pairs), unit="pairs", label="calibrate") as bar:
        for pair in pairs:
            rows, answers = aligned(indexes, pair, most, random)
            if len(rows):
                asked[pair] = ask(indexes, sentence_pools(indexes, pair, rows, answers), pair, lengths)
            bar.advance()
    if not known and sum(map(len, asked.values())) >= LEAST_QUESTIONS:
        confidence, chances = fit_confidence(asked, lengths, random, "aligned", models)
        return confidence, {pair: _quality(part, chances[pair], fresh=True) for pair, part in asked.items()}
    asked_of_scenes = _scene_outcomes(indexes, scenes, encoder, lengths)
    count = sum(map(len, asked_of_scenes.values()))
    right = sum(len(part) * part.first_right(part.table["score"]) for part in asked_of_scenes.values())
    # Scenes that an encoder hardly understands say nothing about its confidence in other text.
    usable = count >= LEAST_QUESTIONS and right >= LEAST_ACCURACY * count
    fitted = fit_confidence(asked_of_scenes, lengths, random, "scenes", models)[0] if usable else None
    scored = {pair: part.table["score"].astype(np.float64) for pair, part in asked.items()}
    if fitted:
        scored = {pair: fitted.sentence.probability(part.table.columns) for pair, part in asked.items()}
    return fitted, {pair: _quality(part, scored[pair], fresh=False) for pair, part in asked.items()}


def _scene_outcomes(
    indexes: Indexes,
    scenes: Mapping[Pair, Probes],
    encoder: TextEncoder,
    lengths: Mapping[str, float],
) -> dict[Pair, Outcomes]:
    """Answer the scenes, in languages of the index; one of a single language is asked in others."""
    codes = indexes.sentences
    asked = {}
    for target in codes:
        usable = {
            pair: part
            for pair, part in scenes.items()
            if pair[1] == target and (pair[0] in codes or len(codes) == 1) and probes.first_scenes(target)
        }
        if not usable:
            continue
        lines = np.unique(np.concatenate([part.lines for part in usable.values()]))
        added = AddedScenes.to(indexes, target, lines, encoder)
        for pair, part in usable.items():
            asked[pair] = ask(indexes, scene_pools(indexes, pair, part, added), pair, lengths)
    return asked


def _quality(answered: Outcomes, chances: NDArray[np.float64], *, fresh: bool) -> PairQuality:
    """The quality of a pair with answers in the order of their chances.

    `fresh`: these were fitted to the other questions of this index, so that their error can be told.
    """
    chosen = likeliest(answered.table, chances)
    return PairQuality(
        r1=answered.first_right(chances),
        r10=float(answered.in_ten.mean()),
        n=len(answered),
        ece=calibration_error(chances[chosen], answered.table["right"][chosen]) if fresh else None,
    )


def near_threshold(translator: Translator, others: Mapping[Pair, Probes]) -> float:
    """The confidence that only NEAR_SHARE of the best answers to text of other kinds reach."""
    chances = []
    for (source, target), asked in others.items():
        texts = list(asked.texts[: -(-NEAR_ASKED // len(others))])
        found = translator.sentences(texts, source, target)
        chances += [row[0].confidence if row else 0.0 for row in found]
    return min(float(np.quantile(chances, 1 - NEAR_SHARE)), MIN_CONFIDENCE) if chances else MIN_CONFIDENCE
