"""Image-caption tuning (Krasner et al. 2025, 3): contrastive loss with a learned temperature."""

import math
from collections.abc import Callable, Iterator
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.encoders.two_branch import TwoBranch
from training.objectives.base import Forward, Objective, Step, Tables, named
from training.papers.shared.suppliers import several_captions

HIGHEST_SCALE = 100.0


@named("caption_tuning")
class CaptionTuning(Objective):
    """CrossEntropy(S, I) with S = E_c E_iᵀ t: the mean over captions i of -log softmax_j(S_ij)_i.

    E_c, E_i are unit rows, t is learned with the model (`LearnedScale`).
    of: what captions are tuned to: their "pictures", each view by itself, or their "partners", sentences
    about the same picture in another language (the paper's English pivot, after LaBSE).
    directions: "captions" is the paper's formula; "both" is CLIP's, the mean of it and of its transpose.
    """

    of: Literal["pictures", "partners"] = "pictures"
    directions: Literal["captions", "both"] = "both"

    @property
    def reads(self) -> frozenset[str]:
        return frozenset({"text", "views" if self.of == "pictures" else "partners"})

    def requires(self, recipe: Tables) -> Iterator[str]:
        if self.of == "partners":
            yield from several_captions(recipe)

    def modules(self, model: TwoBranch) -> dict[str, Callable[[], nn.Module]]:
        return {"scale": LearnedScale}

    def compute(self, forward: Forward) -> dict[str, tuple[Tensor, ...]]:
        return {"scale": (forward.model.learned["scale"](len(forward.text)),)}

    def __call__(self, step: Step) -> Tensor:
        scale = step["scale"][0].mean()
        others = step.views if self.of == "pictures" else step["partners"]
        return torch.stack([self._tuned(step.text, other, scale) for other in others]).mean()

    def _tuned(self, captions: Tensor, others: Tensor, scale: Tensor) -> Tensor:
        logits = captions @ others.T * scale
        targets = torch.arange(len(captions), device=captions.device)
        loss = F.cross_entropy(logits, targets)
        return (loss + F.cross_entropy(logits.T, targets)) / 2 if self.directions == "both" else loss


class LearnedScale(nn.Module):
    """The learned scale t of similarities before a softmax: 1/0.07 at first, 100 at most.

    Learned as its logarithm (CLIP, Radford et al. 2021, 2.5).
    """

    def __init__(self) -> None:
        super().__init__()
        self.logarithm = nn.Parameter(torch.tensor(1 / 0.07).log())

    def forward(self, rows: int) -> Tensor:
        """Repeat t for each pair (rows, 1), so that its gradient is gathered like theirs."""
        return self.logarithm.clamp(max=math.log(HIGHEST_SCALE)).exp().expand(rows, 1)
