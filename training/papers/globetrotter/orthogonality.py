"""The penalty on adaptation layers of Sigurdsson et al. 2020 (Visual Grounding in Video)."""

from collections.abc import Iterator
from typing import ClassVar

import torch
from torch import Tensor

from training.objectives.base import Forward, Objective, Step, Tables, named


@named("orthogonality")
class Orthogonality(Objective):
    """Mean over languages of ||W Wᵀ - I||², the squared Frobenius norm.

    W is the square matrix of a language's word vectors, before the layers that all languages share; the
    penalty keeps it near a rotation. It is the same for all chunks of a batch.
    """

    by_term: ClassVar[bool] = True
    rows: ClassVar[tuple[str, ...]] = ("text",)

    def requires(self, recipe: Tables) -> Iterator[str]:
        if not recipe.text.has_language_maps:
            yield 'text.encoder = "adapted"'

    def compute(self, forward: Forward) -> dict[str, tuple[Tensor, ...]]:
        return {"language_maps": (forward.model.text.language_maps(),)}

    def __call__(self, step: Step) -> Tensor:
        (w,) = step["language_maps"]
        identity = torch.eye(w.shape[-1], dtype=w.dtype, device=w.device)
        return (w @ w.mT - identity).square().sum(dim=(1, 2)).mean()
