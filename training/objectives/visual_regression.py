"""Cosine regression of a sentence onto its picture's features."""

from collections.abc import Iterator

import torch
from torch import Tensor

from training.objectives.base import Objective, Step, Tables, named


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
