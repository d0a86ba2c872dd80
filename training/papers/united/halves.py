"""Contrastive loss between the two halves of a sentence: word co-occurrence, without pictures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np
from torch import Tensor

from training.data.auxiliary import SUPPLIERS
from training.data.pairs import LANGUAGE_EVENNESS, PairSupplier, TokenPair
from training.data.pictograms import is_drawing
from training.data.settings import PICTOGRAM_SET
from training.data.tokens import TokenIds
from training.data.training_data import TrainingData
from training.objectives.base import Contrastive, Step, Tables, named, partner_loss

HALVES_STREAM = 2  # keeps this draw apart from others of the same batch


@named("halves")
class Halves(Contrastive):
    """Mean over 2M halves i of M sentences of one language of -log softmax_{k≠i}(β_ik/τ) at i's other half.

    It draws words that pictures say little about towards those they occur with; sentences without pictures
    suffice. It is to a bag of subwords what the cloze (globetrotter, eq. 4) is to a transformer.
    """

    rows: ClassVar[tuple[str, ...]] = ("halves",)

    def requires(self, recipe: Tables) -> Iterator[str]:
        if recipe.data.sets == (PICTOGRAM_SET,) and not recipe.data.texts:
            yield "sentences: another set than pictograms, or data.texts"

    def __call__(self, step: Step) -> Tensor:
        return partner_loss(step["halves"], self.temperature)


class HalvesSupplier(PairSupplier):
    """Supplies sentences, with pictures or without, each divided at random into two halves.

    A batch is in one language: otherwise the language alone would tell which halves belong together, and the
    languages would drift apart. Languages are drawn in proportion to the number of their sentences to the
    power of 3/4.
    """

    def __init__(self, tokens: Mapping[str, Sequence[TokenIds]], seed: int) -> None:
        super().__init__()
        long = {language: [row for row in rows if len(row) > 1] for language, rows in tokens.items()}
        self.tokens = {language: rows for language, rows in long.items() if rows}
        self.seed = seed

    def draw(self, size: int, epoch: int, number: int) -> list[TokenPair] | None:
        draw = np.random.default_rng([self.seed, epoch, number, HALVES_STREAM])
        languages = list(self.tokens)
        weights = np.asarray([len(self.tokens[language]) for language in languages]) ** LANGUAGE_EVENNESS
        rows = self.tokens[languages[int(draw.choice(len(languages), p=weights / weights.sum()))]]
        return [halved(rows[i], draw) for i in draw.integers(len(rows), size=size)]


def halved(tokens: TokenIds, draw: np.random.Generator) -> TokenPair:
    """Divide a sentence's tokens into two random halves, each in order; the second may be longer by one."""
    first = np.zeros(len(tokens), bool)
    first[draw.permutation(len(tokens))[: len(tokens) // 2]] = True
    return tokens[first], tokens[~first]


def scenes(data: TrainingData) -> dict[str, list[TokenIds]]:
    """The sentences of a run without the captions of drawings, which are lists of synonyms."""
    drawing_flags: dict[str, list[bool]] = {language: [] for language in data.sentences}
    for caption in data.captions.captions:
        drawing_flags[caption.language].append(is_drawing(data.captions.pictures[caption.picture]))
    scenes = {}
    for language, rows in data.sentences.items():
        names = [False] * (len(rows) - len(drawing_flags[language])) + drawing_flags[language]
        scenes[language] = [row for row, is_name in zip(rows, names, strict=True) if not is_name]
    return scenes


SUPPLIERS["halves"] = lambda data: HalvesSupplier(scenes(data), data.seed)
