"""The supervised ceiling: α is 1 for sentences known to be paired (globetrotter, 5.1)."""

import torch
import torch.nn.functional as F
from torch import Tensor

from training.objectives.base import Contrastive, Need, Outputs, unit_similarity


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
        text = torch.cat([outputs.text, outputs.partners])
        logits = unit_similarity(text, text) / self.temperature
        itself = torch.eye(len(text), dtype=torch.bool, device=text.device)
        partner = torch.arange(len(text), device=text.device).roll(len(outputs.text))
        return F.cross_entropy(logits.masked_fill(itself, float("-inf")), partner)
