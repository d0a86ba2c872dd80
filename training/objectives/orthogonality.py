"""The penalty on adaptation layers of Sigurdsson et al. 2020 (Visual Grounding in Video)."""

import torch
from torch import Tensor

from training.objectives.base import Need, Objective, Outputs


class Orthogonality(Objective):
    """Mean over languages of ||W Wᵀ - I||², the squared Frobenius norm.

    W is the square matrix that moves a language's word vectors before the layers that all languages share:
    kept near a rotation, it can turn a language's space but not fold it.
    """

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"adaptations"})

    def terms(self, outputs: Outputs) -> int | None:
        return len(outputs.text)  # the same for every part of a batch

    def __call__(self, outputs: Outputs) -> Tensor:
        w = outputs.adaptations
        assert w is not None, "the model gives its adaptations where an objective needs them"
        identity = torch.eye(w.shape[-1], dtype=w.dtype, device=w.device)
        return (w @ w.mT - identity).square().sum(dim=(1, 2)).mean()
