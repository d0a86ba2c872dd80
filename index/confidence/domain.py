"""Domain: the probability that a text is of the kinds that an index holds, from tokens and neighbours.

An encoder that learned from captions maps every text close to some caption, so a text's words say better than
its vector whether it is one: naive Bayes over tokens, then logistic regression on FEATURES.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.confidence.calibration import Calibration

FEATURES = ("token_score", "question_mean", "log_tokens")
SMOOTHING = 0.5  # added to each count of a token
LARGEST_SCORE = 4.0  # of one token, as a log ratio: no single word decides


@dataclass(frozen=True)
class TokenCounts:
    """How often each token occurs in text of the index's kinds, and in text of other kinds, (vocabulary,)."""

    held: NDArray[np.float64]
    other: NDArray[np.float64]

    def table(self) -> NDArray[np.float32]:
        """(vocabulary,) log P(token | text of the index) - log P(token | other text)."""
        return self.scores(np.arange(len(self.held))).astype(np.float32)

    def scores(
        self, tokens: NDArray[np.int64], *, less_held: float = 0.0, less_other: float = 0.0
    ) -> NDArray[np.float64]:
        """(n,) tokens -> their entries of `table`, after subtracting occurrences from each token's counts.

        For a text that was itself counted, which must not be evidence for itself.
        """
        held = np.maximum(self.held[tokens] - less_held, 0) + SMOOTHING
        other = np.maximum(self.other[tokens] - less_other, 0) + SMOOTHING
        added = SMOOTHING * len(self.held)
        share = np.log((self.other.sum() + added) / (self.held.sum() + added))
        scores: NDArray[np.float64] = np.clip(np.log(held / other) + share, -LARGEST_SCORE, LARGEST_SCORE)
        return scores


@dataclass(frozen=True)
class Domain:
    """The token scores `table` (vocabulary,), the `calibration` of FEATURES, and a tokeniser of texts."""

    table: NDArray[np.float32]
    calibration: Calibration
    tokens_of: Callable[[Sequence[str]], list[list[int]]]

    def chances(self, texts: Sequence[str], question_means: NDArray[np.floating]) -> NDArray[np.float64]:
        """(n,) the probability that each text is of a kind that the index holds.

        `question_means` (n,): each text's mean cosine to its nearest answers.
        """
        tokens = self.tokens_of(texts)
        scores = [float(self.table[row].mean()) if row else -LARGEST_SCORE for row in tokens]
        return self.calibration.probability(domain_features(scores, question_means, list(map(len, tokens))))


def domain_features(
    scores: Sequence[float] | NDArray[np.floating],
    question_means: NDArray[np.floating],
    lengths: Sequence[int] | NDArray[np.integer],
) -> NDArray[np.float64]:
    """Mean token scores, mean cosines to the nearest answers, numbers of tokens, (n,) each -> (n, 3)."""
    return np.column_stack([scores, question_means, np.log1p(lengths)]).astype(np.float64)
