"""Prediction heads: from a branch's hidden vector to the common space (globetrotter, 3.5)."""

from collections.abc import Callable
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


# A kind of head -> what builds it, of a width and a dimension: (N, width) -> (N, dimension) unit rows.
HEADS: dict[str, Callable[[int, int], nn.Module]] = {"none": lambda width, dimension: UnitNorm()}
