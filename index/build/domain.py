"""Stage of a build: fits the model that distinguishes text like the index's from other kinds of text.

An encoder that learned from captions maps every text close to some caption, so a text's words say better than
its vector whether it is one: naive Bayes over tokens, then logistic regression.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from index.answers.evidence import DOMAIN, LARGEST_TOKEN_SCORE, domain_columns
from index.answers.sentence_index import SentenceIndex
from index.arrays import Numbers
from index.build.encoding import BuildJob
from index.build.probes import Pair, Probes
from index.build.reading import texts_of
from index.confidence.models import Columns, Model, fit
from index.text.pre_tokens import Tokens
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, neighbourhood_means
from index.vectors.vector_index import drawn_rows
from index.words.vocabulary import training_tokens

SENTENCES_COUNTED = 10_000  # of each language
SENTENCES_READ = 4096  # at a time
TOKENS_A_LANGUAGE = 300_000.0  # the total weight of a language's tokens, however many it has
SENTENCES_ASKED = 2000  # over all pairs of languages
LEAST_QUERIES = 100  # of either kind; with fewer nothing is fitted
SMOOTHING = 0.5  # added to each count of a token
OTHERS_WEIGHT = 0.4  # of all texts of other kinds together, relative to all texts of the kinds of the index


@dataclass(frozen=True)
class TokenCounts:
    """How often each token occurs in text of the index's kinds, and in text of other kinds, (vocabulary,)."""

    held: NDArray[np.float64]
    other: NDArray[np.float64]

    def table(self) -> NDArray[np.float32]:
        """(vocabulary,) log P(token | text of the index) - log P(token | other text)."""
        return self.scores(np.arange(len(self.held))).astype(np.float32)

    def scores(
        self, tokens: Numbers, *, less_held: float = 0.0, less_other: float = 0.0
    ) -> NDArray[np.float64]:
        """(n,) tokens -> their entries of `table`, after subtracting occurrences from each token's counts.

        For a text that was itself counted, which must not be evidence for itself.
        """
        held = np.maximum(self.held[tokens] - less_held, 0) + SMOOTHING
        other = np.maximum(self.other[tokens] - less_other, 0) + SMOOTHING
        added = SMOOTHING * len(self.held)
        share = np.log((self.other.sum() + added) / (self.held.sum() + added))
        largest = LARGEST_TOKEN_SCORE
        scores: NDArray[np.float64] = np.clip(np.log(held / other) + share, -largest, largest)
        return scores


@dataclass(frozen=True)
class HeldTokens:
    """The tokens of a language's sentences in the index, and the weight of each occurrence."""

    tokens: Tokens
    weight: float


def held_tokens(job: BuildJob, code: str, halved: bool) -> HeldTokens:
    """Tokenise the first sentences of a language; `halved` if its training words have the other half."""
    tokenizer = job.encoder.tokenizer
    tokens = Tokens.of([])
    for texts in texts_of(job, code, SENTENCES_READ, end=SENTENCES_COUNTED):
        tokens = tokens.followed(tokenizer.encode_corpus(texts.to_pylist()).without(tokenizer.special))
    return HeldTokens(tokens, TOKENS_A_LANGUAGE * (0.5 if halved else 1) / max(1, len(tokens.ids)))


def count_tokens(
    job: BuildJob, held: Mapping[str, HeldTokens], others: Mapping[str, Sequence[str]]
) -> TokenCounts:
    """Count the tokens of the index's sentences and the encoder's training words, and of other text."""
    size = job.encoder.vocabulary
    counts = np.zeros(size)
    training = training_tokens(job.encoder)
    for code in {**held, **others}:
        trained = training[code]
        if code in held:
            counts += held[code].weight * np.bincount(held[code].tokens.ids, minlength=size)
        if trained.any():
            counts += trained * (TOKENS_A_LANGUAGE * (0.5 if code in held else 1) / trained.sum())
    other = np.zeros(size)
    for texts in others.values():
        other += np.bincount(Tokens.of(job.encoder.tokens(texts)).ids, minlength=size)
    return TokenCounts(counts, other)


def fit_domain(
    job: BuildJob,
    indexes: Mapping[str, SentenceIndex],
    scenes: Mapping[Pair, Probes],
    others: Mapping[Pair, Probes],
    other_texts: Mapping[str, Sequence[str]],
) -> tuple[NDArray[np.float32], Model | None]:
    """Fit the scores of tokens, (vocabulary,), and the model; no model if there is too little text.

    Text of the index's kinds is its own sentences, and scenes, which an encoder of captions knows. `others`
    are asked from `other_texts`, all text of other kinds.
    """
    held = {code: held_tokens(job, code, halved=job.bundle.words(code) is not None) for code in indexes}
    counts = count_tokens(job, held, other_texts)
    inside = [_sentence_columns(counts, indexes, held, pair) for pair in permutations(indexes, 2)]
    inside += [_probe_columns(counts, probes) for probes in scenes.values()]
    # A text's own tokens are subtracted from what it was counted for.
    outside = [_probe_columns(counts, probes, less_other=1.0) for probes in others.values()]
    sizes = [sum(len(columns[DOMAIN[0]]) for columns in parts) for parts in (inside, outside)]
    if min(sizes) < LEAST_QUERIES:
        return counts.table(), None
    joined = {name: np.concatenate([columns[name] for columns in (*inside, *outside)]) for name in DOMAIN}
    weights = np.repeat([1 / sizes[0], OTHERS_WEIGHT / sizes[1]], sizes)
    return counts.table(), fit(joined, np.repeat([True, False], sizes), weights)


def _sentence_columns(
    counts: TokenCounts,
    indexes: Mapping[str, SentenceIndex],
    held: Mapping[str, HeldTokens],
    pair: Pair,
) -> Columns:
    """The columns of sentences of the first language of `pair`, asked in the second."""
    source, target = (indexes[code] for code in pair)
    share = -(-SENTENCES_ASKED // (len(indexes) * (len(indexes) - 1)))
    rows = drawn_rows(len(held[pair[0]].tokens), share)
    tokens = held[pair[0]].tokens.take(rows)
    # A sentence's own tokens are subtracted: in a text that is not in the index they might be new.
    scores = counts.scores(tokens.ids, less_held=held[pair[0]].weight)
    cosines, _ = target.vectors.search(source.vectors.reconstruct(rows), CSLS_NEIGHBOURS, batched=True)
    return domain_columns(tokens, neighbourhood_means(cosines), scores)


def _probe_columns(counts: TokenCounts, probes: Probes, less_other: float = 0.0) -> Columns:
    """The columns of probes of one pair of languages."""
    scores = counts.scores(probes.tokens.ids, less_other=less_other)
    return domain_columns(probes.tokens, neighbourhood_means(probes.cosines[:, :CSLS_NEIGHBOURS]), scores)
