"""The supervised upper bound: α is 1 for sentences known to be paired (globetrotter, 5.1)."""

from collections.abc import Iterator
from typing import ClassVar

from torch import Tensor

from training.objectives.base import Contrastive, Step, Tables, named, partner_loss, several_captions


@named("paired")
class Paired(Contrastive):
    """Mean over 2N sentences i of -log softmax_{k≠i}(β_ik/τ) at the sentence that i is paired with.

    Eq. 1 over N sentences and their N partners, with α_ij = 1 where j is i's partner and 0 elsewhere: what
    the transitive loss would be if it knew the translations.
    """

    rows: ClassVar[tuple[str, ...]] = ("text", "partners")

    def requires(self, recipe: Tables) -> Iterator[str]:
        yield from several_captions(recipe)

    def __call__(self, step: Step) -> Tensor:
        return partner_loss((step.text, *step["partners"]), self.temperature)
