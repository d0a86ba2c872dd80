"""Contrastive loss on mined pairs: sentences of two languages that are each other's nearest."""

from typing import ClassVar

from torch import Tensor

from training.objectives.base import Contrastive, Step, named, partner_loss


@named("pseudopairs")
class Pseudopairs(Contrastive):
    """Mean over 2M sentences i, those of M mined pairs, of -log softmax_{k≠i}(β_ik/τ) at i's partner.

    What c2c is in Kádár et al. 2019 (2), with a softmax over all sentences of the batch instead of their
    hinge, on pairs mined with the encoder itself (their 2.2; training.mining). 0 while nothing is
    mined.
    """

    rows: ClassVar[tuple[str, ...]] = ("mined",)

    def __call__(self, step: Step) -> Tensor:
        if "mined" not in step:
            return step.text.new_zeros(())
        return partner_loss(step["mined"], self.temperature)
