"""Heads that are learned: the papers' branches end in them."""

from collections import OrderedDict

from torch import nn

from training.encoders.heads import HEADS, UnitNorm


def linear(width: int, dimension: int) -> nn.Module:
    """The picture branch of Kádár et al. 2019 (3.1), the adapter of Krasner et al. 2025."""
    return nn.Sequential(OrderedDict(layer=nn.Linear(width, dimension), norm=UnitNorm()))


def mlp(width: int, dimension: int) -> nn.Module:
    """Dense, GELU, LayerNorm, linear (globetrotter, 3.5)."""
    layers = nn.Sequential(
        nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width), nn.Linear(width, dimension)
    )
    return nn.Sequential(OrderedDict(layers=layers, norm=UnitNorm()))


HEADS |= {"linear": linear, "mlp": mlp}
