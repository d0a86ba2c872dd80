"""Which language a text is in, by the tokens it is made of: naive Bayes over the encoder's vocabulary.

P(language | tokens) is proportional to the product of P(token | language)^(1/T). The probabilities come from
the words of each language (the bundle's training words and the corpus) and their counts, so the detector
knows the very text that the index is for, in every language of the bundle, and costs one table. Before
anything is read, each language that the index has sentences in is HELD times as likely as another.
"""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from index.text.pre_tokens import Tokens

UNSEEN = 0.01  # the probability kept for tokens never seen: shared evenly, so that they favour no language
TEMPERATURE = 1.5  # tokens of a sentence depend on each other: less sure than the product says
SURE = 0.7
HELD = 20  # among a hundred languages one word tells little: who asks, asks mostly in those of the index
FOREIGN = 0.001  # a corpus' line is in another language below this chance of its own
ROUNDING = 1e-6  # of sums of some hundred logarithms, in doubles, and far more
FOREIGN_TOKENS = 5  # and from this many tokens on: names and loan words are in every language


class Detector:
    """`table` (languages, vocabulary): log P(token | language); `held`: the languages of the index."""

    def __init__(
        self, languages: Sequence[str], table: NDArray[np.float32], held: Collection[str] = ()
    ) -> None:
        self.languages = tuple(languages)
        self.table = table
        self._before = np.log([HELD if code in held else 1.0 for code in self.languages])
        self._rivals: dict[str, NDArray[np.float64]] = {}

    def of_index(self, held: Collection[str]) -> "Detector":
        """The same for an index that has sentences in the languages `held`."""
        return Detector(self.languages, self.table, held)

    def detect(self, tokens: Sequence[int]) -> str | None:
        """The likeliest language for token ids; None where no language is likely enough."""
        likeliest = next(iter(self.chances(tokens).items()), None) if tokens else None
        return likeliest[0] if likeliest and likeliest[1] >= SURE else None

    def chances(self, tokens: Sequence[int]) -> dict[str, float]:
        """The probability of each language, the likeliest first; without tokens all have the same."""
        if not self.languages:
            return {}
        scores = self.table[:, list(tokens)].sum(axis=1, dtype=np.float64) / TEMPERATURE + self._before
        chances = np.exp(scores - scores.max())
        chances /= chances.sum()
        return {self.languages[row]: float(chances[row]) for row in np.argsort(-chances, kind="stable")}

    def foreign(self, tokens: Sequence[int], language: str) -> bool:
        """Whether a text that should be in `language` is surely in another; never where it is not known."""
        if language not in self.languages or len(tokens) < FOREIGN_TOKENS:
            return False
        return self.chances(tokens)[language] < FOREIGN

    def all_foreign(self, tokens: Tokens, language: str, special: NDArray[np.int64]) -> NDArray[np.bool_]:
        """`foreign` of each of many texts, at once; `special` tokens do not count."""
        if language not in self.languages or len(self.languages) == 1:
            return np.zeros(len(tokens), bool)
        counted = tokens.without(special)
        doubtful = np.flatnonzero(~self._surely(counted, language) & (counted.lengths >= FOREIGN_TOKENS))
        found = np.zeros(len(tokens), bool)
        found[doubtful] = self._own_chance(counted.take(doubtful), language) < FOREIGN
        return found

    def _surely(self, tokens: Tokens, language: str) -> NDArray[np.bool_]:
        """Of many texts those that cannot be foreign, whatever is left to compute: most of a corpus.

        No other language says more of a text than the best of them says of each of its tokens; were all as
        likely as that, they would still leave `language` more than FOREIGN.
        """
        own = self.languages.index(language)
        if language not in self._rivals:
            parts = (self.table[:own], self.table[own + 1 :])
            best = np.maximum(*(part.max(axis=0, initial=-np.inf) for part in parts))
            self._rivals[language] = best.astype(np.float64) - self.table[own]
        most = np.bincount(tokens.texts, self._rivals[language][tokens.ids], len(tokens)) / TEMPERATURE
        most += np.delete(self._before, own).max() - self._before[own]
        sure: NDArray[np.bool_] = most <= np.log((1 / FOREIGN - 1) / (len(self.languages) - 1)) - ROUNDING
        return sure

    def _own_chance(self, tokens: Tokens, language: str) -> NDArray[np.float64]:
        """The probability of `language` for each of many texts."""
        texts = tokens.texts
        sums = np.stack([np.bincount(texts, row[tokens.ids], len(tokens)) for row in self.table])
        scores = sums / TEMPERATURE + self._before[:, None]
        chances = np.exp(scores - scores.max(axis=0))
        own: NDArray[np.float64] = chances[self.languages.index(language)] / chances.sum(axis=0)
        return own


def token_row(counts: NDArray[np.float64]) -> NDArray[np.float32]:
    """How often each token occurs in a language, not all 0 -> log P(token | language); both (vocabulary,)."""
    row = np.full(len(counts), np.log(UNSEEN / len(counts)), np.float32)
    # One language has few tokens of a vocabulary that is there for a hundred.
    seen = np.flatnonzero(counts)
    row[seen] = np.log((1 - UNSEEN) * (counts[seen] / counts.sum()) + UNSEEN / len(counts))
    return row
