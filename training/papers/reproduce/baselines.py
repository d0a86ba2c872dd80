"""Baselines in closed form, without a seed: visual ridge regression and character trigrams.

The ridge regression takes tf-idf of words onto picture features, one regression a language, and no two
languages share a word: what a linear look at the pictures gives by itself. They are the pictures of
globetrotter-small as 128 whitened features, the mean of two views; the penalty is the one that does best on
dev pictures, as with a recipe's checkpoints. Trigrams, weighted by tf-idf, are what languages share by
spelling, without any training.
"""

import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from evaluation.measures.recall import image_sentence_recall, retrieved_positives
from evaluation.measures.scores import ALL, score_translation
from evaluation.suites.sets import read_aligned
from evaluation.suites.translation import POOL as POOLED
from index.encoder.vectors import unit
from index.text.normalisation import clean, words
from training.loop.prepare import prepare
from training.loop.run import create_run
from training.loop.source import CaptionSource
from training.loop.validation import ValidationSet
from training.papers.reproduce.systems import POOL, TRANSLATION, Figures, between_scripts, captions_of_test
from training.recipes.recipe import Recipe, load_recipe

RIDGE_PENALTIES = (2.0, 8.0, 32.0, 128.0)
# The pictures of globetrotter-small in the space of the data's own floor.
SPACE = ("text.width=128", "head.dimension=128", "vision.whitening=1.0", "vision.views=2")
TRIGRAM = 3  # characters
Rows = NDArray[np.int64]
Vectors = NDArray[np.float32]


class Ridge:
    """tf-idf of units (words, subwords), regressed onto a space.

    Sentences are the rows of their units, each unit a number below `width`; `targets` (n, d) are the
    sentences' places in the space; a unit's rarity is counted among `documents` sentences; `penalty` is the
    weight of the squared norm.
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
        """(n, d) unit rows; a sentence of units never seen is zero."""
        counts = _counts(sentences, self.width)
        return unit(_weighted(counts[:, self.used], self.rarity) @ self.weights)


class Words:
    """One regression a language, on its words."""

    def __init__(self, prepared: CaptionSource, languages: Sequence[str], penalty: float) -> None:
        space = centred_space(prepared)
        captions = prepared.data.captions.captions
        self._rows: dict[str, dict[str, int]] = {}
        self._ridges: dict[str, Ridge] = {}
        for code in languages:
            own = [caption for caption in captions if caption.language == code]
            said = [words(caption.text, code) for caption in own]
            rows = {word: row for row, word in enumerate(sorted({word for line in said for word in line}))}
            self._rows[code] = rows
            targets = space[[caption.picture for caption in own]]
            units = [_known(line, rows) for line in said]
            self._ridges[code] = Ridge(units, len(rows), targets, len(own), penalty)

    def validated(self, validation: ValidationSet) -> float:
        """Sum of recalls between dev captions and their pictures, mean over the languages."""
        space = unit(validation.pictures.plain(np.arange(len(validation.data.pictures))).numpy())
        sums = []
        for code in self._ridges:
            own = [caption for caption in validation.data.captions if caption.language == code]
            seen, place = np.unique([caption.picture for caption in own], return_inverse=True)
            vectors = self.encode({code: [caption.text for caption in own]})[code]
            sums.append(image_sentence_recall(unit(space[seen] - space.mean(axis=0)), vectors, place))
        return float(np.mean(sums))

    def encode(self, texts: dict[str, list[str]]) -> dict[str, Vectors]:
        """language -> sentences to language -> (n, d) unit rows."""
        return {
            code: self._ridges[code].encode([_known(words(line, code), self._rows[code]) for line in lines])
            for code, lines in texts.items()
        }


def ridge_recipe(overrides: Iterable[str] = ()) -> Recipe:
    """What says which pictures, captions and views: globetrotter-small in a space of its own."""
    return load_recipe("globetrotter-small", (*SPACE, *overrides))


def measure_ridge(data: Path, languages: Sequence[str], overrides: Iterable[str] = ()) -> Figures:
    """The figures that systems.py describes; `languages` are those to translate between."""
    recipe = ridge_recipe(overrides)
    with tempfile.TemporaryDirectory() as folder:
        prepared = prepare(create_run(Path(folder) / "run", recipe, resume=False), data)
    codes = recipe.data.languages
    tried = [Words(prepared, codes, penalty) for penalty in RIDGE_PENALTIES]
    ridge = max(tried, key=lambda one: one.validated(prepared.validation))
    texts = read_aligned(data / "benchmark" / "multi30k_test_2016", languages)
    means = score_translation("", "", ridge.encode(texts)).means[ALL]
    found = {name: means[name] for name in TRANSLATION}
    found |= between_scripts(score_translation("", "", ridge.encode(captions_of_test(data, codes))).pairs)
    found[POOL] = retrieved_positives(ridge.encode(captions_of_test(data, codes, POOLED)))
    return {name: round(value, 2) for name, value in found.items()}


def centred_space(prepared: CaptionSource) -> Vectors:
    """(pictures, d) unit rows: the training pictures' features, less their mean."""
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


def measure_trigrams(data: Path, languages: Sequence[str]) -> Figures:
    """The figures that systems.py describes, but for those between scripts, which share no trigram;
    `languages` are those to translate between."""
    codes = load_recipe("globetrotter-small").data.languages
    texts = read_aligned(data / "benchmark" / "multi30k_test_2016", languages)
    means = score_translation("", "", weigh(texts)).means[ALL]
    found = {name: means[name] for name in TRANSLATION}
    found[POOL] = retrieved_positives(weigh(captions_of_test(data, codes, POOLED)))
    return {name: round(value, 2) for name, value in found.items()}


def weigh(texts: Mapping[str, Sequence[str]]) -> dict[str, Vectors]:
    """language -> sentences to language -> (n, d) unit rows: the logarithm of a trigram's count times that of
    how rare it is among the sentences of all; d trigrams that are in two sentences or more."""
    counted = {code: [trigrams(line) for line in lines] for code, lines in texts.items()}
    every = [line for lines in counted.values() for line in lines]
    seen = Counter(found for line in every for found in line)
    places = {found: place for place, found in enumerate(sorted(one for one in seen if seen[one] > 1))}
    rarity = np.log(len(every) / np.array([seen[one] for one in places]))
    return {
        code: unit(np.stack([_row(line, places) for line in lines]) * rarity.astype(np.float32))
        for code, lines in counted.items()
    }


def trigrams(text: str) -> Counter[str]:
    """How often each occurs in a sentence, lower-cased, a space at either end."""
    padded = f" {clean(text).lower()} "
    return Counter(padded[start : start + TRIGRAM] for start in range(len(padded) - TRIGRAM + 1))


def _row(counts: Counter[str], places: Mapping[str, int]) -> Vectors:
    row = np.zeros(len(places), np.float32)
    for found in counts.keys() & places.keys():
        row[places[found]] = 1 + np.log(counts[found])
    return row
