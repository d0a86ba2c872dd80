"""L_v: contrastive loss between two augmented views of a picture (globetrotter, eq. 3; SimCLR)."""

from collections.abc import Iterator
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from training.objectives.base import Contrastive, Step, Tables, named, unit_similarity


@named("visual_contrastive")
class VisualContrastive(Contrastive):
    """Mean over the 2N views i of -log softmax_{k≠i}(α^v_ik/τ) at the picture's other view."""

    rows: ClassVar[tuple[str, ...]] = ("views",)

    def requires(self, recipe: Tables) -> Iterator[str]:
        if not recipe.vision.gives_two_views:
            yield 'vision.space = "learned" and two views that are not averaged'

    def __call__(self, step: Step) -> Tensor:
        first, second = step.views[:2]
        views = torch.cat([first, second])
        n = len(first)
        logits = unit_similarity(views, views) / self.temperature
        logits = logits.masked_fill(torch.eye(2 * n, dtype=torch.bool, device=views.device), float("-inf"))
        targets = torch.arange(2 * n, device=views.device).roll(n)
        return F.cross_entropy(logits, targets)
