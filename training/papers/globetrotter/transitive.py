"""L_t: sentences of similar pictures become similar (globetrotter, eq. 1 and 2)."""

from typing import Literal

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from training.objectives.base import Contrastive, Step, named, unit_similarity


@named("transitive")
class Transitive(Contrastive):
    """-Σ_i Σ_{j≠i} α_ij log softmax_{k≠i}(β_ik/τ)_j, divided as `normalise` says.

    β_ij = sim(z^l_i, z^l_j); α_ij = f(α^x_ii α^v_ij α^x_jj) with f(x) = max(0, x - m)/(1 - m): the path from
    a sentence over its picture and a similar picture to that picture's sentence. α is a target: no gradient
    flows through it, as its two parts have losses of their own.

    normalise: "batch" divides by N (eq. 1 as a mean over sentences); "positives" by Σα (the published code).
    visual_only: α from α^v alone, without the two α^x.
    A batch without any positive gives 0 (not 0/0).
    """

    margin: float = Field(default=0.4, ge=0, lt=1)
    normalise: Literal["batch", "positives"] = "batch"
    visual_only: bool = False

    def __call__(self, step: Step) -> Tensor:
        itself = torch.eye(len(step.text), dtype=torch.bool, device=step.text.device)
        alpha = self.alpha(step).masked_fill(itself, 0)
        logits = unit_similarity(step.text, step.text) / self.temperature
        log_p = F.log_softmax(logits.masked_fill(itself, float("-inf")), dim=1).masked_fill(itself, 0)
        rows = -(alpha * log_p).sum(dim=1)
        if self.normalise == "batch":
            return rows.mean()
        return rows.sum() / alpha.sum().clamp(min=1e-6)

    @torch.no_grad()
    def alpha(self, step: Step) -> Tensor:
        """α of eq. 2: (N, N) in [0, 1], symmetric, averaged over the views."""
        alphas = [self._alpha_of_view(view, step) for view in step.views]
        return torch.stack(alphas).mean(dim=0)

    def _alpha_of_view(self, view: Tensor, step: Step) -> Tensor:
        path = unit_similarity(view, view)
        if not self.visual_only:
            pair_similarity = (1 + (view * step.text).sum(dim=1)) / 2
            path = pair_similarity[:, None] * path * pair_similarity[None, :]
        return (path - self.margin).clamp(min=0) / (1 - self.margin)
