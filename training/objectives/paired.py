"""The supervised ceiling: α is 1 for sentences known to be paired (globetrotter, 5.1)."""

from torch import Tensor

from training.objectives.base import Contrastive, Need, Outputs, partner_loss


class Paired(Contrastive):
    """Mean over 2N sentences i of -log softmax_{k≠i}(β_ik/τ) at the sentence that i is paired with.

    Eq. 1 over N sentences and their N partners, with α_ij = 1 where j is i's partner and 0 elsewhere: what
    the transitive loss would be if it knew the translations.
    """

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"partners"})

    def __call__(self, outputs: Outputs) -> Tensor:
        assert outputs.partners is not None, "the model embeds partners where an objective needs them"
        return partner_loss(outputs.text, outputs.partners, self.temperature)
