"""Cosine regression of a sentence onto its picture's features: the shortest bridge there is."""

import torch
from torch import Tensor

from training.objectives.base import Objective, Outputs


class VisualRegression(Objective):
    """Mean over pairs and views of 1 - cos(z^l_i, z^v_i).

    Pulls alone, so it needs a picture space that cannot collapse: one that is fixed ("whitened"), which the
    recipe's validation demands.
    """

    def __call__(self, outputs: Outputs) -> Tensor:
        losses = [1 - (outputs.text * view).sum(dim=1).mean() for view in outputs.views]
        return torch.stack(losses).mean()
