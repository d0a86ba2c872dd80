"""What a recurrent encoder says of a sentence."""

from torch import Tensor


def last_states(states: Tensor, mask: Tensor) -> Tensor:
    """The state at each row's last token: (N, T, W) and a mask (N, T), ones first -> (N, W)."""
    last = (mask.sum(dim=1) - 1).clamp(min=0)
    out: Tensor = states.gather(1, last[:, None, None].expand(-1, 1, states.shape[2]))[:, 0]
    return out
