"""The transitive loss as Globetrotter's published code has it, and how many pairs it takes for positives.

The code differs from the paper: its similarities are plain dot products, not scaled to [0, 1] (B.1); α is not
α^x_ii α^v_ij α^x_jj but α^v_ij times a factor of 0.75 to 1.25 that grows with α^x_ii α^x_jj, divided by the
largest of the batch; the loss is divided by Σα; gradients are clipped to a norm of 1; all λ are 1.
On [0, 1], where our losses are (`unit_similarity`), its τ = 0.1 is a temperature of 0.05.
"""

from typing import Literal

import torch
from torch import Tensor

from training.objectives.base import Step, named
from training.papers.globetrotter.transitive import Transitive

RESCALED = 0.25  # x of the published code


@named("transitive_published")
class PublishedTransitive(Transitive):
    """Eq. 1 with the published α, divided by Σα:
    α_ij = max(0, s_ij / max s - m) / (1 - m), s_ij = α^v_ij (1 - x + 2x r_ij), x = 0.25,
    with r_ij the product α^x_ii α^x_jj moved and scaled to [0, 1] over the batch; all cosines unscaled.
    """

    normalise: Literal["batch", "positives"] = "positives"

    def _alpha_of_view(self, view: Tensor, step: Step) -> Tensor:
        similarity = view @ view.T
        if not self.visual_only:
            pair = (view * step.text).sum(dim=1)
            product = pair[:, None] * pair[None, :]
            product = product - product.min()
            similarity = similarity * (product / product.max().clamp(min=1e-9) * 2 * RESCALED + 1 - RESCALED)
        itself = torch.eye(len(view), dtype=torch.bool, device=view.device)
        largest = similarity.masked_fill(itself, float("-inf")).max().clamp(min=1e-9)
        return (similarity / largest - self.margin).clamp(min=0) / (1 - self.margin)


class CountedPositives(Transitive):
    """No loss: the share of the pairs of a batch with α > 0, logged beside the losses, without a gradient."""

    def __call__(self, step: Step) -> Tensor:
        others = ~torch.eye(len(step.text), dtype=torch.bool, device=step.text.device)
        return (self.alpha(step)[others] > 0).float().mean()


@named("positives")
class Positives(CountedPositives):
    """No loss: the share of pairs that `transitive`, so set, takes for positives."""


@named("positives_published")
class PublishedPositives(CountedPositives, PublishedTransitive):
    """No loss: the share of pairs that `transitive_published`, so set, takes for positives."""
