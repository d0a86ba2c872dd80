"""What the papers' branches end in: heads that are learned, the last state of a recurrent encoder."""

from collections import OrderedDict

from torch import Tensor, nn

from training.encoders.two_branch import HEADS, UnitNorm


def linear(width: int, dimension: int) -> nn.Module:
    """The picture branch of Kádár et al. 2019 (3.1), the adapter of Krasner et al. 2025."""
    return nn.Sequential(OrderedDict(layer=nn.Linear(width, dimension), norm=UnitNorm()))


def mlp(width: int, dimension: int) -> nn.Module:
    """Dense, GELU, LayerNorm, linear (globetrotter, 3.5)."""
    layers = nn.Sequential(
        nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width), nn.Linear(width, dimension)
    )
    return nn.Sequential(OrderedDict(layers=layers, norm=UnitNorm()))


def last_states(states: Tensor, mask: Tensor) -> Tensor:
    """The state at each row's last token: (N, T, W) and a mask (N, T), ones first -> (N, W)."""
    last = (mask.sum(dim=1) - 1).clamp(min=0)
    out: Tensor = states.gather(1, last[:, None, None].expand(-1, 1, states.shape[2]))[:, 0]
    return out


HEADS |= {"linear": linear, "mlp": mlp}
