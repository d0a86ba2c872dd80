"""Character trigrams, weighed by tf-idf: what languages share by spelling, without any training."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from evaluation.measures.recall import retrieved_positives
from evaluation.measures.scores import ALL, score_translation
from evaluation.suites.registry import POOL as POOLED
from evaluation.suites.sets import read_aligned
from index.text.normalisation import clean
from index.unit import unit
from training.papers.reproduce.ridge import Vectors
from training.papers.reproduce.systems import POOL, TRANSLATION, Figures, captions_of_test
from training.recipes.recipe import load_recipe

LENGTH = 3


def measure_trigrams(data: Path, languages: Sequence[str]) -> Figures:
    """The figures that training.reproduce.systems describes, but for those between scripts, which share no
    trigram; `languages` are those to translate between."""
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
    return Counter(padded[start : start + LENGTH] for start in range(len(padded) - LENGTH + 1))


def _row(counts: Counter[str], places: Mapping[str, int]) -> Vectors:
    row = np.zeros(len(places), np.float32)
    for found in counts.keys() & places.keys():
        row[places[found]] = 1 + np.log(counts[found])
    return row
