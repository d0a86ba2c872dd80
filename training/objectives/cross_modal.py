"""L_x: contrastive loss between captions and pictures, both ways (globetrotter, eq. 4)."""

import torch
import torch.nn.functional as F
from torch import Tensor

from training.objectives.base import Contrastive, Step, named, unit_similarity


@named("cross_modal")
class CrossModal(Contrastive):
    """Mean over pairs i and views of -log softmax_j(α^x_ij/τ)_i - log softmax_j(α^x_ji/τ)_i.

    α^x_ij = sim(z^v_i, z^l_j), scaled to [0, 1]; the negatives are the other pairs of the batch.
    """

    def __call__(self, step: Step) -> Tensor:
        targets = torch.arange(len(step.text), device=step.text.device)
        losses = []
        for view in step.views:
            logits = unit_similarity(view, step.text) / self.temperature
            losses.append(F.cross_entropy(logits, targets) + F.cross_entropy(logits.T, targets))
        return torch.stack(losses).mean()
