"""Back-translation, the cycle consistency of Lample & Conneau 2019."""

import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from training.objectives.base import Need, Objective, Outputs


class BackTranslation(Objective):
    """Cross-entropy of a sentence's tokens, written from the model's own translation of it into another
    language; the translation is a given, no gradient flows through it.

    share: of a batch's sentences that are translated, drawn each time; translating is the slow part.
    """

    share: float = Field(default=1.0, gt=0, le=1)

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"decoder"})

    def terms(self, outputs: Outputs) -> int | None:
        return len(outputs.back_translation[1]) if outputs.back_translation else None

    def __call__(self, outputs: Outputs) -> Tensor:
        assert outputs.back_translation is not None, "the model writes where an objective needs it"
        return F.cross_entropy(*outputs.back_translation)
