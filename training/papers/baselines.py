"""A baseline without training or randomness: character trigrams, weighted by tf-idf.

They show what languages share by spelling alone.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from index.text.normalisation import clean
from training.papers.measures import Figures, measure
from training.recipes.recipe import load_recipe

TRIGRAM_CHARACTERS = 3  # characters
Rows = NDArray[np.int64]
Vectors = NDArray[np.float32]


def measure_trigrams(data: Path, compared: Sequence[str], overrides: Iterable[str] = ()) -> Figures:
    """Measure trigrams, as in `measures` but between scripts, which share none: there all would tie.

    The languages are those of globetrotter-small under `overrides`.
    """
    codes = load_recipe("globetrotter-small", overrides).data.languages
    figures = measure(weigh, data, codes, compared)
    return {name: value for name, value in figures.items() if not name.startswith("scripts_")}


def _known(line: Sequence[str], rows: dict[str, int]) -> Rows:
    return np.asarray([rows[word] for word in line if word in rows], np.int64)


def unit_counts(rows: Sequence[Rows], width: int) -> sparse.csr_array:
    """How often each unit occurs in each sentence."""
    starts = np.cumsum([0, *(len(row) for row in rows)])
    ones = np.ones(int(starts[-1]), np.float32)
    counts = sparse.csr_array((ones, np.concatenate(rows), starts), shape=(len(rows), width))
    counts.sum_duplicates()
    return counts


def tf_idf(counts: sparse.csr_array, rarity: NDArray[np.floating]) -> sparse.csr_array:
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
        code: tf_idf(unit_counts([_known(line, places) for line in lines], len(places)), rarity)
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
    "trigrams": measure_trigrams,
}
