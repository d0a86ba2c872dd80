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
    published: α as the published code has it, of plain cosines: α^v, times 0.75 to 1.25 as α^x_ii α^x_jj goes
    from the batch's least to its largest, over the largest such product of the batch, less the margin.
    A batch without any positive gives 0 (not 0/0).
    """

    margin: float = Field(default=0.4, ge=0, lt=1)
    normalise: Literal["batch", "positives"] = "batch"
    visual_only: bool = False
    published: bool = False

    def __call__(self, step: Step) -> Tensor:
        itself = torch.eye(len(step.text), dtype=torch.bool, device=step.text.device)
        alpha = self.alpha(step).masked_fill(itself, 0)
        logits = unit_similarity(step.text, step.text) / self.temperature
        log_p = F.log_softmax(logits.masked_fill(itself, float("-inf")), dim=1).masked_fill(itself, 0)
        rows = -(alpha * log_p).sum(dim=1)
        return rows.mean() if self.normalise == "batch" else rows.sum() / alpha.sum().clamp(min=1e-6)

    @torch.no_grad()
    def alpha(self, step: Step) -> Tensor:
        """α of eq. 2: (N, N), symmetric, in [0, 1] between two sentences, averaged over the views."""
        path = self._published_path if self.published else self._path
        paths = torch.stack([path(view, (view * step.text).sum(dim=1)) for view in step.views])
        return ((paths - self.margin).clamp(min=0) / (1 - self.margin)).mean(dim=0)

    def _path(self, view: Tensor, fit: Tensor) -> Tensor:
        fit = torch.ones_like(fit) if self.visual_only else (1 + fit) / 2
        return fit[:, None] * unit_similarity(view, view) * fit

    def _published_path(self, view: Tensor, fit: Tensor) -> Tensor:
        path, fits = view @ view.T, fit[:, None] * fit
        if not self.visual_only:
            path *= 0.75 + 0.5 * (fits - fits.min()) / (fits.max() - fits.min()).clamp(min=1e-9)
        return path / path.clone().fill_diagonal_(0).max().clamp(min=1e-9)
