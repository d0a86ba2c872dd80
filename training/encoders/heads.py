"""Prediction heads: from a branch's hidden vector to the common space (globetrotter, 3.5)."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class PredictionHead(nn.Module):
    """Dense, GELU, LayerNorm, linear to `dimension`, then unit norm: (N, width) -> (N, dimension)."""

    def __init__(self, width: int, dimension: int) -> None:
        super().__init__()
        self.width = width
        self.layers = nn.Sequential(
            nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width), nn.Linear(width, dimension)
        )

    def forward(self, hidden: Tensor) -> Tensor:
        return F.normalize(self.layers(hidden).float(), dim=-1)  # float32 under autocast, too


class UnitNorm(nn.Module):
    """No head: the hidden vector itself, unit norm."""

    def forward(self, hidden: Tensor) -> Tensor:
        return F.normalize(hidden.float(), dim=-1)


class ClozeHead(nn.Module):
    """Hidden states to token logits, tied to the token embeddings: (M, width) -> (M, vocabulary)."""

    def __init__(self, tokens: nn.Embedding) -> None:
        super().__init__()
        width = tokens.embedding_dim
        self.transform = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))
        self.tokens = tokens
        self.bias = nn.Parameter(tokens.weight.new_zeros(tokens.num_embeddings))

    def forward(self, states: Tensor) -> Tensor:
        return F.linear(self.transform(states), self.tokens.weight, self.bias)


class LinearHead(nn.Module):
    """One affine map to `dimension`, then unit norm: the picture branch of Kádár et al. 2019 (3.1), the
    adapter of Krasner et al. 2025."""

    def __init__(self, width: int, dimension: int) -> None:
        super().__init__()
        self.width = width
        self.layer = nn.Linear(width, dimension)

    def forward(self, hidden: Tensor) -> Tensor:
        return F.normalize(self.layer(hidden).float(), dim=-1)


class LearnedScale(nn.Module):
    """t, what similarities are multiplied by before a softmax: learned as its logarithm, at most 100 (CLIP,
    Radford et al. 2021, 2.5), 1/0.07 at first."""

    MOST = 100.0

    def __init__(self) -> None:
        super().__init__()
        self.logarithm = nn.Parameter(torch.tensor(1 / 0.07).log())

    def forward(self, rows: int) -> Tensor:
        """(rows, 1), t in each: a row a pair, so that its gradient is gathered as theirs is."""
        return self.logarithm.clamp(max=math.log(self.MOST)).exp().expand(rows, 1)


def build_head(kind: str, width: int, dimension: int) -> nn.Module:
    """The head of that kind ("mlp", "linear", "none"): (N, width) -> (N, dimension) unit rows."""
    if kind == "none":
        return UnitNorm()
    return PredictionHead(width, dimension) if kind == "mlp" else LinearHead(width, dimension)
