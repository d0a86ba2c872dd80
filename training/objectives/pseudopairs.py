"""Mined pairs of sentences, each the other's nearest in another language, become more similar."""

import torch
import torch.nn.functional as F
from torch import Tensor

from training.objectives.base import Contrastive, Need, Outputs, unit_similarity


class Pseudopairs(Contrastive):
    """Mean over M mined pairs (a_i, b_i) of -log softmax_j(β(a_i, b_j)/τ)_i - log softmax_j(β(a_j, b_i)/τ)_i.

    What c2c is in Kádár et al. 2019 (2), with a softmax over the batch for their hinge, on pairs mined with
    the encoder itself (their 2.2; training.mining). 0 as long as nothing is mined.
    """

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"mined"})

    def __call__(self, outputs: Outputs) -> Tensor:
        if outputs.mined is None:
            return outputs.text.new_zeros(())
        one, other = outputs.mined
        logits = unit_similarity(one, other) / self.temperature
        own = torch.arange(len(one), device=one.device)
        return F.cross_entropy(logits, own) + F.cross_entropy(logits.T, own)
