"""Sentences of one language cut into two halves, which are about the same thing."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from training.data.pseudopairs import EVENNESS, PairBatch

Tokens = NDArray[np.int32]


class HalvesSource:
    """Token ids of sentences by language, with pictures or without.

    A batch is in one language, so that its negatives are too: else the language alone would tell which halves
    belong together, and languages would part. Languages are drawn in proportion to the number of their
    sentences to the power of 3/4. It depends on seed, epoch and number alone.
    """

    def __init__(self, tokens: Mapping[str, list[Tokens]], seed: int) -> None:
        cut = {language: [row for row in rows if len(row) > 1] for language, rows in tokens.items()}
        self.tokens = {language: rows for language, rows in cut.items() if rows}
        self.seed = seed

    def batch(self, size: int, epoch: int, number: int) -> PairBatch:
        """The halves of `size` sentences, some perhaps twice: each token is in one of them, in its order."""
        draw = np.random.default_rng([self.seed, epoch, number, 2])
        languages = list(self.tokens)
        weights = np.asarray([len(self.tokens[language]) for language in languages]) ** EVENNESS
        rows = self.tokens[languages[int(draw.choice(len(languages), p=weights / weights.sum()))]]
        halves = [halved(rows[i], draw) for i in draw.integers(len(rows), size=size)]
        return PairBatch([one for one, _ in halves], [other for _, other in halves])


def halved(tokens: Tokens, draw: np.random.Generator) -> tuple[Tokens, Tokens]:
    """Two sets of a sentence's tokens, at random, one as large as the other or larger by one."""
    first = np.zeros(len(tokens), bool)
    first[draw.permutation(len(tokens))[: len(tokens) // 2]] = True
    return tokens[first], tokens[~first]
