"""L_c: the token cloze (globetrotter, 3.3; BERT, Devlin et al. 2019)."""

import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from training.objectives.base import Objective, Outputs


class Cloze(Objective):
    """Cross-entropy of the hidden tokens.

    A token is chosen with probability `mask`; 80 % of the chosen become <mask>, 10 % a random token, 10 %
    stay as they are (training.encoders.masking). shared_pass: the contrastive losses see the same masked
    sentences, as in the published code; otherwise the cloze has a forward pass of its own.
    """

    mask: float = Field(default=0.15, gt=0, lt=1)
    shared_pass: bool = False

    def terms(self, outputs: Outputs) -> int | None:
        return len(outputs.cloze[1]) if outputs.cloze else None

    def __call__(self, outputs: Outputs) -> Tensor:
        assert outputs.cloze is not None, "a recipe with the cloze builds its model with a cloze head"
        logits, truth = outputs.cloze
        if not len(truth):
            return logits.sum() * 0
        return F.cross_entropy(logits, truth)
