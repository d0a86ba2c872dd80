"""The adversarial language classifier (MULE, Kim et al. 2020; Ganin & Lempitsky 2014)."""

from typing import Any

import torch
from torch import Tensor, nn


class _Reversal(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:  # noqa: ANN401 (torch's own signature)
        return rows.view_as(rows)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:  # noqa: ANN401
        return -gradients[0]


def reversed_gradient(rows: Tensor) -> Tensor:
    """The rows themselves; what is learned through them goes the other way."""
    found: Tensor = _Reversal.apply(rows)  # type: ignore[no-untyped-call]
    return found


class LanguageClassifier(nn.Module):
    """One linear layer, W_lc of MULE, eq. 2: sentence vectors (N, width) -> language logits (N, L).

    It learns to tell the languages apart while the encoder, through a reversed gradient, that it can't.
    """

    def __init__(self, width: int, languages: int) -> None:
        super().__init__()
        self.layer = nn.Linear(width, languages)

    def forward(self, sentences: Tensor) -> Tensor:
        out: Tensor = self.layer(reversed_gradient(sentences))
        return out
