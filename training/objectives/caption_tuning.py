"""Image-caption tuning (Krasner et al. 2025, 3): a caption finds its picture, at a learned temperature."""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from training.objectives.base import Need, Objective, Outputs


class CaptionTuning(Objective):
    """CrossEntropy(S, I) with S = E_c E_iᵀ t: the mean over captions i of -log softmax_j(S_ij)_i.

    E_c, E_i are unit rows, t is learned with the model (training.encoders.heads.LearnedScale).
    of: what captions are tuned to, their "pictures", each view by itself, or their "partners", sentences
    about the same picture in another language (the paper's English pivot, after LaBSE).
    directions: "captions" is the paper's formula; "both" is CLIP's, the mean of it and of its transpose.
    """

    of: Literal["pictures", "partners"] = "pictures"
    directions: Literal["captions", "both"] = "both"

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"scale", "partners"} if self.of == "partners" else {"scale"})

    def __call__(self, outputs: Outputs) -> Tensor:
        assert outputs.scale is not None, "the model gives a scale where an objective needs it"
        scale = outputs.scale.mean()
        return torch.stack([self._of(outputs.text, other, scale) for other in self._others(outputs)]).mean()

    def _others(self, outputs: Outputs) -> tuple[Tensor, ...]:
        if self.of == "pictures":
            return outputs.views
        assert outputs.partners is not None, "the model embeds partners where an objective needs them"
        return (outputs.partners,)

    def _of(self, captions: Tensor, others: Tensor, scale: Tensor) -> Tensor:
        logits = captions @ others.T * scale
        own = torch.arange(len(captions), device=captions.device)
        loss = F.cross_entropy(logits, own)
        return (loss + F.cross_entropy(logits.T, own)) / 2 if self.directions == "both" else loss
