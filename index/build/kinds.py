"""Stage of a build: what tells text such as the index holds from other kinds (confidence/domain.py)."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from index.build.job import Job
from index.build.probes import Probes
from index.build.reading import texts_of
from index.confidence.calibration import Calibration, fit
from index.confidence.domain import TokenCounts, domain_features
from index.search.hubness import NEIGHBOURS, neighbourhood_means
from index.search.sentence_index import SentenceIndex
from index.search.vector_index import drawn_rows
from index.text.pre_tokens import Tokens
from index.words.vocabulary import token_counts, training_words

SENTENCES = 20_000  # of each language whose tokens are counted
BLOCK = 4096  # of them at a time
TOKENS = 300_000.0  # that each language counts as, however many it has
ASKED = 4000  # texts of either kind, over all pairs of languages
LEAST = 100  # of either kind; with fewer nothing is fitted
OTHERS = 3.0  # times as often as text of the kinds that it holds may text of others be asked


@dataclass(frozen=True)
class HeldTokens:
    """The tokens of the sentences of a language, and what each occurrence counts."""

    tokens: Tokens
    weight: float


def held_tokens(job: Job, code: str, halved: bool) -> HeldTokens:
    """The tokens of the first sentences of a language; `halved` where other text counts as much."""
    tokenizer = job.encoder.tokenizer
    tokens = Tokens.of([])
    for texts in texts_of(job, code, BLOCK, end=SENTENCES):
        tokens = tokens.followed(tokenizer.encode_corpus(texts.to_pylist()).without(tokenizer.special))
    return HeldTokens(tokens, TOKENS * (0.5 if halved else 1) / max(1, len(tokens.ids)))


def count_tokens(job: Job, held: Mapping[str, HeldTokens], others: Mapping[str, Probes]) -> TokenCounts:
    """Of the index's sentences and the words that the encoder learned from; of text of other kinds."""
    size = job.encoder.vocabulary
    counts = np.zeros(size)
    for code in {**held, **others}:
        trained = token_counts(job.encoder, training_words(job.bundle, code))
        if code in held:
            counts += held[code].weight * np.bincount(held[code].tokens.ids, minlength=size)
        if trained.any():
            counts += trained * (TOKENS * (0.5 if code in held else 1) / trained.sum())
    other = np.zeros(size)
    for probes in others.values():
        other += np.bincount(probes.tokens.ids, minlength=size)
    return TokenCounts(counts, other)


def fit_domain(
    job: Job,
    indexes: Mapping[str, SentenceIndex],
    scenes: Mapping[str, Probes],
    others: Mapping[str, Probes],
) -> tuple[NDArray[np.float32], Calibration | None]:
    """The table and the weights of a Domain; no weights where there is too little text of either kind.

    Of the kinds that it holds are its own sentences, and scenes, which an encoder of captions knows.
    """
    held = {code: held_tokens(job, code, halved=job.bundle.words(code) is not None) for code in indexes}
    counts = count_tokens(job, held, others)
    kept = [_own(counts, indexes, held, pair) for pair in permutations(indexes, 2)]
    kept += _of_probes(counts, indexes, scenes)
    foreign = _of_probes(counts, indexes, others, less_other=1.0)
    values, right = np.concatenate([np.zeros((0, 3)), *kept]), np.concatenate([np.zeros((0, 3)), *foreign])
    if min(len(values), len(right)) < LEAST:
        return counts.table(), None
    weights = np.repeat([1 / len(values), OTHERS / len(right)], [len(values), len(right)])
    kinds = np.repeat([True, False], [len(values), len(right)])
    return counts.table(), fit(np.concatenate([values, right]), kinds, weights)


def _own(
    counts: TokenCounts,
    indexes: Mapping[str, SentenceIndex],
    held: Mapping[str, HeldTokens],
    pair: tuple[str, str],
) -> NDArray[np.float64]:
    """The features of sentences of the first language, asked in the second."""
    source, target = (indexes[code] for code in pair)
    share = -(-ASKED // (len(indexes) * (len(indexes) - 1)))
    rows = drawn_rows(len(held[pair[0]].tokens), share)
    # A sentence's own words were counted: without it they may never have been seen.
    scores = counts.scores(held[pair[0]].tokens.take(rows).ids, less_held=held[pair[0]].weight)
    return _features(scores, held[pair[0]].tokens.take(rows), source.vectors.reconstruct(rows), target)


def _of_probes(
    counts: TokenCounts,
    indexes: Mapping[str, SentenceIndex],
    probes: Mapping[str, Probes],
    less_other: float = 0.0,
) -> list[NDArray[np.float64]]:
    """The features of probes in each language, asked in each language of the index but that."""
    pairs = [(code, target) for target in indexes for code in probes if code != target]
    features = []
    for seed, (code, target) in enumerate(pairs):
        chosen = probes[code].take(probes[code].draw(-(-ASKED // len(pairs)), seed))
        scores = counts.scores(chosen.tokens.ids, less_other=less_other)
        features.append(_features(scores, chosen.tokens, chosen.vectors, indexes[target]))
    return features


def _features(
    scores: NDArray[np.float64], tokens: Tokens, vectors: NDArray[np.float32], target: SentenceIndex
) -> NDArray[np.float64]:
    sums = np.bincount(tokens.texts, scores, len(tokens))
    means = neighbourhood_means(target.vectors.search(vectors, NEIGHBOURS)[0])
    return domain_features(sums / np.maximum(tokens.lengths, 1), means, tokens.lengths)
