"""Prediction heads: from a branch's hidden vector to the common space (globetrotter, 3.5)."""

from typing import Literal

import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from training.data.settings import Table


class HeadSettings(Table):
    """The common space: its dimension and the heads that map text and pictures into it.

    "mlp": a prediction head (globetrotter, 3.5); "linear": one affine map; "none": the hidden vector itself.
    pictures: only where vision.space = "learned".
    """

    dimension: int = Field(default=128, ge=2)
    text: Literal["mlp", "linear", "none"] = "mlp"
    pictures: Literal["mlp", "linear"] = "mlp"


class PredictionHead(nn.Module):
    """Dense, GELU, LayerNorm, linear to `dimension`, then unit norm: (N, width) -> (N, dimension)."""

    def __init__(self, width: int, dimension: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width), nn.Linear(width, dimension)
        )

    def forward(self, hidden: Tensor) -> Tensor:
        return F.normalize(self.layers(hidden).float(), dim=-1)  # float32 under autocast, too


class UnitNorm(nn.Module):
    """No head: the hidden vector itself, scaled to unit norm."""

    def forward(self, hidden: Tensor) -> Tensor:
        return F.normalize(hidden.float(), dim=-1)


class LinearHead(nn.Module):
    """One affine map to `dimension`, then unit norm: the picture branch of Kádár et al. 2019 (3.1), the
    adapter of Krasner et al. 2025."""

    def __init__(self, width: int, dimension: int) -> None:
        super().__init__()
        self.layer = nn.Linear(width, dimension)

    def forward(self, hidden: Tensor) -> Tensor:
        return F.normalize(self.layer(hidden).float(), dim=-1)


def build_head(kind: str, width: int, dimension: int) -> nn.Module:
    """Build the head of a kind ("mlp", "linear", "none"): (N, width) -> (N, dimension) unit rows."""
    if kind == "none":
        return UnitNorm()
    return PredictionHead(width, dimension) if kind == "mlp" else LinearHead(width, dimension)
