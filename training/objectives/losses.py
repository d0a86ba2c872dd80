"""The losses that the shipped recipes use: captions with pictures, sentences with mined partners."""

from collections.abc import Iterator
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from training.objectives.base import (
    Contrastive,
    Objective,
    Step,
    Tables,
    named,
    partner_loss,
    unit_similarity,
)


@named("cross_modal")
class CrossModal(Contrastive):
    """L_x (globetrotter, eq. 4): mean over pairs i and views of
    -log softmax_j(α^x_ij/τ)_i - log softmax_j(α^x_ji/τ)_i.

    α^x_ij = sim(z^v_i, z^l_j), scaled to [0, 1]; the negatives are the other pairs of the batch.
    """

    def __call__(self, step: Step) -> Tensor:
        targets = torch.arange(len(step.text), device=step.text.device)
        losses = []
        for view in step.views:
            logits = unit_similarity(view, step.text) / self.temperature
            losses.append(F.cross_entropy(logits, targets) + F.cross_entropy(logits.T, targets))
        return torch.stack(losses).mean()


@named("pseudopairs")
class Pseudopairs(Contrastive):
    """Mean over 2M sentences i, those of M mined pairs, of -log softmax_{k≠i}(β_ik/τ) at i's partner.

    What c2c is in Kádár et al. 2019 (2), with a softmax over all sentences of the batch instead of their
    hinge, on pairs mined with the encoder itself (their 2.2; training.mining). 0 while nothing is
    mined.
    """

    rows: ClassVar[tuple[str, ...]] = ("mined",)

    def __call__(self, step: Step) -> Tensor:
        if "mined" not in step:
            return step.text.new_zeros(())
        return partner_loss(step["mined"], self.temperature)


@named("visual_regression")
class VisualRegression(Objective):
    """Mean over pairs and views of 1 - cos(z^l_i, z^v_i).

    It only attracts, so it needs a picture space that cannot collapse: a fixed one ("whitened"), which the
    recipe's validation requires.
    """

    def requires(self, recipe: Tables) -> Iterator[str]:
        if recipe.vision.space != "whitened":
            yield 'vision.space = "whitened"'

    def __call__(self, step: Step) -> Tensor:
        losses = [1 - (step.text * view).sum(dim=1).mean() for view in step.views]
        return torch.stack(losses).mean()
