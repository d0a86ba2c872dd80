"""Which language a text is in, by the tokens it is made of: naive Bayes over the encoder's vocabulary.

P(language | tokens) is proportional to P(language) and the product of P(token | language)^(1/T). The
probabilities come from the words of each language (the bundle's training words and the corpus) and their
counts, so the detector knows the very text that the index is for, in every language of the bundle, and costs
one table. Beforehand a language that the index has sentences in is INDEXED_ODDS times as likely as another.

What users ask is no caption, so for that fastText's opinion is another factor, (P_fastText + floor)^weight,
with constants chosen for the likelihood of development texts (docs/decisions/0091).
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from index.text.fasttext_model import fasttext_name
from index.text.pre_tokens import Tokens

UNSEEN_SHARE = 0.01  # of probability, kept for tokens never seen: shared evenly, it favours no language
TEMPERATURE = 1.5  # tokens of a sentence depend on each other: less sure than the product says
COMBINED_TEMPERATURE = 2.5  # of the same product where fastText is heard, too
FASTTEXT_WEIGHT, FASTTEXT_FLOOR = 0.5, 1e-3
SURE = 0.7  # the probability from which on a language is named
CANDIDATES = 3  # named where none is sure, at most
MIN_CANDIDATE_CHANCE = 0.05
INDEXED_ODDS = 20  # among a hundred languages one word tells little, and most ask in those of the index
FOREIGN = 0.001  # a corpus' line is in another language below this probability of its own
FOREIGN_TOKENS = 5  # and from this many tokens on: names and loan words are in every language
ROUNDING = 1e-6  # of sums of some hundred logarithms, in doubles, and far more


class Detector:
    """Tells `languages` by `table` (languages, vocabulary), log P(token | language).

    indexed: the languages that the index has sentences in.
    """

    def __init__(
        self, languages: Sequence[str], table: NDArray[np.float32], indexed: Collection[str] = ()
    ) -> None:
        self.languages = tuple(languages)
        self.table = table
        self._log_prior = np.log([INDEXED_ODDS if code in indexed else 1.0 for code in self.languages])
        self._rivals: dict[str, NDArray[np.float64]] = {}

    def of_index(self, indexed: Collection[str]) -> "Detector":
        """The same for an index that has sentences in the languages `indexed`."""
        return Detector(self.languages, self.table, indexed)

    def chances(self, tokens: Sequence[int], fasttext: Mapping[str, float] | None = None) -> dict[str, float]:
        """The probability of each language, the likeliest first; without tokens the prior ones.

        fasttext: what `fasttext_chances` says of the text, to be combined with.
        """
        if not self.languages:
            return {}
        sums = self.table[:, list(tokens)].sum(axis=1, dtype=np.float64)
        scores = sums / TEMPERATURE
        if fasttext is not None:
            opinions = [fasttext.get(fasttext_name(code), 0.0) for code in self.languages]
            scores = sums / COMBINED_TEMPERATURE
            scores += FASTTEXT_WEIGHT * np.log(np.array(opinions) + FASTTEXT_FLOOR)
        chances = self._probabilities(scores[:, None])[:, 0]
        return {self.languages[row]: float(chances[row]) for row in np.argsort(-chances, kind="stable")}

    def foreign(self, tokens: Tokens, language: str) -> NDArray[np.bool_]:
        """(n,) whether texts that should be in `language` are surely in another; none where it is unknown."""
        foreign = np.zeros(len(tokens), bool)
        if language in self.languages and len(self.languages) > 1:
            judged = np.flatnonzero((tokens.lengths >= FOREIGN_TOKENS) & ~self._surely_in(tokens, language))
            doubtful = tokens.take(judged)
            texts = doubtful.texts
            rows = [np.bincount(texts, row[doubtful.ids], len(doubtful)) for row in self.table]
            sums = np.stack(rows).astype(np.float64)
            foreign[judged] = (
                self._probabilities(sums / TEMPERATURE)[self.languages.index(language)] < FOREIGN
            )
        return foreign

    def _surely_in(self, tokens: Tokens, language: str) -> NDArray[np.bool_]:
        """(n,) texts that cannot be foreign, whatever is left to compute: most of a corpus.

        No other language says more of a text than the best of them says of each of its tokens; were all as
        likely as that, they would still leave `language` more than FOREIGN.
        """
        row = self.languages.index(language)
        if language not in self._rivals:
            parts = (self.table[:row], self.table[row + 1 :])
            best = np.maximum(*(part.max(axis=0, initial=-np.inf) for part in parts))
            self._rivals[language] = best.astype(np.float64) - self.table[row]
        lead = np.bincount(tokens.texts, self._rivals[language][tokens.ids], len(tokens)) / TEMPERATURE
        lead += np.delete(self._log_prior, row).max() - self._log_prior[row]
        sure: NDArray[np.bool_] = lead <= np.log((1 / FOREIGN - 1) / (len(self.languages) - 1)) - ROUNDING
        return sure

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """(languages, n) logarithms of what texts say for each language -> the probability of each."""
        scores = scores + self._log_prior[:, None]
        likelihoods = np.exp(scores - scores.max(axis=0))
        probabilities: NDArray[np.float64] = likelihoods / likelihoods.sum(axis=0)
        return probabilities


def clear_language(chances: Mapping[str, float]) -> str | None:
    """The likeliest of languages, which are given likeliest first; None where it is not likely enough."""
    likeliest = next(iter(chances), None)
    return likeliest if likeliest is not None and chances[likeliest] >= SURE else None


def likely_languages(chances: Mapping[str, float]) -> list[str]:
    """The few languages that a text may be in, of languages given likeliest first."""
    return [code for code in list(chances)[:CANDIDATES] if chances[code] >= MIN_CANDIDATE_CHANCE]


def has_letters(text: str) -> bool:
    """Whether a text has letters, without which it is in no language."""
    return any(character.isalpha() for character in text)


def log_probabilities(counts: NDArray[np.float64], smoothing: float) -> NDArray[np.float64]:
    """(..., vocabulary) how often each token occurs in a language -> log P(token | language).

    `smoothing` is added to each count (Lidstone).
    """
    smoothed = counts + smoothing
    logarithms: NDArray[np.float64] = np.log(smoothed / smoothed.sum(axis=-1, keepdims=True))
    return logarithms


def table_row(counts: NDArray[np.float64]) -> NDArray[np.float32]:
    """(vocabulary,) counts of a language, not all 0 -> its row of a Detector's table."""
    smoothing = UNSEEN_SHARE / (1 - UNSEEN_SHARE) * counts.sum() / len(counts)
    return log_probabilities(counts, float(smoothing)).astype(np.float32)
