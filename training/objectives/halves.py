"""Contrastive loss between the two halves of a sentence: word co-occurrence, without pictures."""

from collections.abc import Iterator
from typing import ClassVar

from torch import Tensor

from training.data.settings import PICTOGRAM_SET
from training.objectives.base import Contrastive, Step, Tables, named, partner_loss


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
