"""The denoising autoencoder of Lample et al. 2018 (Unsupervised Machine Translation Using Monolingual Corpora
Only, eq. 1), as in Lample & Conneau 2019."""

import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from training.objectives.base import Need, Objective, Outputs


class Denoising(Objective):
    """Cross-entropy of a sentence's tokens, written from a noisy version of it.

    Noise: tokens lost with probability `drop`, hidden with `blank`, moved by `reach` places at most.
    """

    drop: float = Field(default=0.1, ge=0, lt=1)
    blank: float = Field(default=0.1, ge=0, lt=1)
    reach: int = Field(default=3, ge=0)

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"decoder"})

    def terms(self, outputs: Outputs) -> int | None:
        return len(outputs.denoising[1]) if outputs.denoising else None

    def __call__(self, outputs: Outputs) -> Tensor:
        assert outputs.denoising is not None, "the model writes where an objective needs it"
        return F.cross_entropy(*outputs.denoising)
