"""Baselines in closed form, without randomness: visual ridge regression and character trigrams.

The ridge regression maps tf-idf of words onto picture features, separately for each language: what a linear
model learns from the pictures alone. The features are those of globetrotter-small, 128 whitened dimensions,
the mean of two views; the penalty is chosen on dev pictures, as a recipe's checkpoint is. Trigrams, weighted
by tf-idf, show what languages share by spelling, without any training.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from evaluation.measures.recall import image_sentence_recall
from index.encoder.vectors import unit
from index.text.normalisation import clean, words
from training.loop.prepare import prepare
from training.loop.run import create_run
from training.loop.source import CaptionSource
from training.loop.validation import ValidationSet
from training.papers.measures import Figures, measure
from training.recipes.recipe import Recipe, load_recipe

RIDGE_PENALTIES = (2.0, 8.0, 32.0, 128.0)
# Overrides of globetrotter-small: the space of picture features that the regression predicts.
SPACE_SETTINGS = ("text.width=128", "head.dimension=128", "vision.whitening=1.0", "vision.views=2")
TRIGRAM_CHARACTERS = 3  # characters
Rows = NDArray[np.int64]
Vectors = NDArray[np.float32]


class Ridge:
    """A ridge regression from tf-idf of units (words, subwords) onto vectors.

    sentences: the units of each, numbers below `width`. targets: (n, d), a vector for each sentence.
    documents: the number of sentences that inverse frequencies refer to. penalty: weight of the squared norm.
    """

    def __init__(
        self, sentences: Sequence[Rows], width: int, targets: Vectors, documents: float, penalty: float
    ) -> None:
        self.width = width
        counts = _counts(sentences, width)
        frequency = np.asarray((counts > 0).sum(axis=0)).ravel()
        self.used = np.flatnonzero(frequency)
        self.rarity = np.log(documents / frequency[self.used]).clip(0.1)
        x = _weighted(counts[:, self.used], self.rarity)
        gram = (x.T @ x).toarray() + penalty * np.eye(len(self.used))
        self.weights = np.linalg.solve(gram, x.T @ targets)

    def encode(self, sentences: Sequence[Rows]) -> Vectors:
        """Predict (n, d) unit rows; a sentence of unknown units is zero."""
        counts = _counts(sentences, self.width)
        return unit(_weighted(counts[:, self.used], self.rarity) @ self.weights)


class WordRidges:
    """A ridge regression for each language, on its words."""

    def __init__(self, prepared: CaptionSource, languages: Sequence[str], penalty: float) -> None:
        space = centred_space(prepared)
        captions = prepared.data.captions.captions
        self._rows: dict[str, dict[str, int]] = {}
        self._ridges: dict[str, Ridge] = {}
        for code in languages:
            texts = [caption for caption in captions if caption.language == code]
            lines = [words(caption.text, code) for caption in texts]
            rows = {word: row for row, word in enumerate(sorted({word for line in lines for word in line}))}
            self._rows[code] = rows
            targets = space[[caption.picture for caption in texts]]
            units = [_known(line, rows) for line in lines]
            self._ridges[code] = Ridge(units, len(rows), targets, len(texts), penalty)

    def validated(self, validation: ValidationSet) -> float:
        """Sum of recalls between dev captions and their pictures, mean over the languages."""
        space = unit(validation.pictures.plain(np.arange(len(validation.data.pictures))).numpy())
        sums = []
        for code in self._ridges:
            captions = [caption for caption in validation.data.captions if caption.language == code]
            pictures, place = np.unique([caption.picture for caption in captions], return_inverse=True)
            vectors = self.encode({code: [caption.text for caption in captions]})[code]
            sums.append(image_sentence_recall(unit(space[pictures] - space.mean(axis=0)), vectors, place))
        return float(np.mean(sums))

    def encode(self, texts: Mapping[str, Sequence[str]]) -> dict[str, Vectors]:
        """Encode language -> n sentences to language -> (n, d) unit rows."""
        return {
            code: self._ridges[code].encode([_known(words(line, code), self._rows[code]) for line in lines])
            for code, lines in texts.items()
        }


def ridge_recipe(overrides: Iterable[str] = ()) -> Recipe:
    """The recipe that names pictures, captions and views: globetrotter-small with SPACE_SETTINGS."""
    return load_recipe("globetrotter-small", (*SPACE_SETTINGS, *overrides))


def measure_ridge(data: Path, compared: Sequence[str], overrides: Iterable[str] = ()) -> Figures:
    """Measure the ridge regression of the penalty that is best on dev pictures, as in `measures`."""
    recipe = ridge_recipe(overrides)
    with tempfile.TemporaryDirectory() as folder:
        prepared = prepare(create_run(Path(folder) / "run", recipe, resume=False), data)
    codes = recipe.data.languages
    candidates = [WordRidges(prepared, codes, penalty) for penalty in RIDGE_PENALTIES]
    ridge = max(candidates, key=lambda regressions: regressions.validated(prepared.validation))
    return measure(ridge.encode, data, codes, compared)


def measure_trigrams(data: Path, compared: Sequence[str], overrides: Iterable[str] = ()) -> Figures:
    """Measure trigrams, as in `measures` but between scripts, which share none: there all would tie."""
    figures = measure(weigh, data, ridge_recipe(overrides).data.languages, compared)
    return {name: value for name, value in figures.items() if not name.startswith("scripts_")}


def centred_space(prepared: CaptionSource) -> Vectors:
    """The training pictures' features less their mean, (pictures, d) unit rows."""
    space = unit(prepared.pictures.plain(np.arange(len(prepared.data.captions.pictures))).numpy())
    return unit(space - space.mean(axis=0))


def _known(line: Sequence[str], rows: dict[str, int]) -> Rows:
    return np.asarray([rows[word] for word in line if word in rows], np.int64)


def _counts(rows: Sequence[Rows], width: int) -> sparse.csr_array:
    """How often each unit occurs in each sentence."""
    starts = np.cumsum([0, *(len(row) for row in rows)])
    ones = np.ones(int(starts[-1]), np.float32)
    counts = sparse.csr_array((ones, np.concatenate(rows), starts), shape=(len(rows), width))
    counts.sum_duplicates()
    return counts


def _weighted(counts: sparse.csr_array, rarity: NDArray[np.floating]) -> sparse.csr_array:
    """Logarithmic counts times rarity, unit rows."""
    weighted = counts.copy()
    weighted.data = (1 + np.log(weighted.data)) * rarity[weighted.indices]
    norms = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1))).ravel()
    return sparse.csr_array(sparse.diags_array(1 / np.maximum(norms, 1e-9)) @ weighted)


def weigh(texts: Mapping[str, Sequence[str]]) -> dict[str, Vectors]:
    """Weigh trigrams by tf-idf: language -> n sentences to language -> (n, d) unit rows.

    d is the number of trigrams that occur in two sentences or more, in any language.
    """
    sentences = {code: [trigrams(line) for line in lines] for code, lines in texts.items()}
    frequency = Counter(chain.from_iterable(map(set, chain.from_iterable(sentences.values()))))
    repeated = sorted(trigram for trigram, count in frequency.items() if count > 1)
    places = {trigram: place for place, trigram in enumerate(repeated)}
    rarity = np.log(sum(map(len, texts.values())) / np.array([frequency[trigram] for trigram in repeated]))
    return {
        code: _weighted(_counts([_known(line, places) for line in lines], len(places)), rarity)
        .toarray()
        .astype(np.float32)
        for code, lines in sentences.items()
    }


def trigrams(text: str) -> list[str]:
    """List the trigrams of a sentence, lower-cased, with a space at either end."""
    padded = f" {clean(text).lower()} "
    return [
        padded[start : start + TRIGRAM_CHARACTERS] for start in range(len(padded) - TRIGRAM_CHARACTERS + 1)
    ]


# Systems without a recipe, in the tables of `study`.
BASELINES: dict[str, Callable[[Path, Sequence[str], Iterable[str]], Figures]] = {
    "ridge": measure_ridge,
    "trigrams": measure_trigrams,
}
