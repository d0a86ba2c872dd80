"""Prediction heads: from a branch's hidden vector to the common space (globetrotter, 3.5)."""

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
