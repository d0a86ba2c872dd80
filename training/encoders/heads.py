"""Heads: from an encoder's vector or a picture's features to the common space."""

from collections import OrderedDict
from typing import Literal

import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from training.data.settings import SettingsTable


class HeadSettings(SettingsTable):
    """The common space: its dimension and the heads that map text and pictures into it.

    "mlp": a prediction head (globetrotter, 3.5); "linear": one affine map; "none": the hidden vector itself.
    pictures: only where vision.space = "learned".
    """

    dimension: int = Field(default=128, ge=2)
    text: Literal["mlp", "linear", "none"] = "mlp"
    pictures: Literal["mlp", "linear"] = "mlp"


class UnitNorm(nn.Module):
    """Scales vectors to unit norm, in float32 under autocast, too."""

    def forward(self, hidden: Tensor) -> Tensor:
        return F.normalize(hidden.float(), dim=-1)


def build_head(kind: Literal["mlp", "linear", "none"], width: int, dimension: int) -> nn.Module:
    """Build a head of a kind: (N, width) -> (N, dimension) unit rows.

    "mlp": dense, GELU, LayerNorm, linear (globetrotter, 3.5). "linear": the picture branch of Kádár et al.
    2019 (3.1), the adapter of Krasner et al. 2025.
    """
    if kind == "none":
        return UnitNorm()
    if kind == "linear":
        return nn.Sequential(OrderedDict(layer=nn.Linear(width, dimension), norm=UnitNorm()))
    layers = nn.Sequential(
        nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width), nn.Linear(width, dimension)
    )
    return nn.Sequential(OrderedDict(layers=layers, norm=UnitNorm()))
