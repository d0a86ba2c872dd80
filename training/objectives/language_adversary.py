"""L_LC: sentences that no classifier can tell the language of (MULE, Kim et al. 2020, eq. 2 and 4)."""

import torch.nn.functional as F
from torch import Tensor

from training.objectives.base import Need, Objective, Outputs


class LanguageAdversary(Objective):
    """Cross-entropy of the language classifier (training.encoders.adversary). The classifier minimises it;
    the gradient that reaches the encoder is reversed: `weight` is λ2 of both lines of eq. 4."""

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"inner", "adversary"})

    def terms(self, outputs: Outputs) -> int | None:
        return len(outputs.text)

    def __call__(self, outputs: Outputs) -> Tensor:
        assert outputs.adversary is not None, "the model classifies where an objective needs it"
        return F.cross_entropy(*outputs.adversary)
