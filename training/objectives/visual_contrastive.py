"""L_v: two augmented views of a picture find one another (globetrotter, eq. 3; SimCLR)."""

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from training.objectives.base import Contrastive, Outputs, unit_similarity


class VisualContrastive(Contrastive):
    """Mean over the 2N views i of -log softmax_{k≠i}(α^v_ik/τ) at the picture's other view."""

    views_needed: ClassVar[int] = 2

    def __call__(self, outputs: Outputs) -> Tensor:
        first, second = outputs.views[:2]
        views = torch.cat([first, second])
        n = len(first)
        logits = unit_similarity(views, views) / self.temperature
        logits = logits.masked_fill(torch.eye(2 * n, dtype=torch.bool, device=views.device), float("-inf"))
        other = torch.arange(2 * n, device=views.device).roll(n)
        return F.cross_entropy(logits, other)
