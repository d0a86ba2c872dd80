"""What the masked cross-language loss of SMALR compares (Burns et al. 2020, 3.2 and 7.4)."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.data.tokens import MASK_ID, SPECIAL

Layers = tuple[Tensor, Tensor]
Rebuilt = tuple[tuple[Tensor, Tensor], ...]


def hide_words(ids: Tensor, mask: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """Token ids and mask (N, T) -> the ids with some as <mask>, and the mask without these.

    Each ordinary token is hidden with probability `share`; one of a sentence always stays. Draws from torch's
    global generator, whose state a checkpoint keeps.
    """
    chance = torch.rand(ids.shape, device=ids.device)
    ordinary = (mask == 1) & (ids >= len(SPECIAL))
    spared = chance == chance.masked_fill(~ordinary, -1).amax(dim=1, keepdim=True)
    hidden = ordinary & (chance < share) & ~spared
    return ids.masked_fill(hidden, MASK_ID), mask.masked_fill(hidden, 0)


class MaskedPairs(nn.Module):
    """Tells, at one layer, what is hidden of two sentences from what is left of both.

    One affine map, shared by all pairs of languages: (N, width) twice -> (2N, width) unit rows, the first
    sentences' before the second's.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.missing = nn.Linear(2 * width, 2 * width)

    def forward(self, one: Tensor, other: Tensor) -> Tensor:
        left = torch.cat([one, other], dim=1)
        first, second = (left + self.missing(left)).chunk(2, dim=1)
        return F.normalize(torch.cat([first, second]).float(), dim=1)


class MaskedModel(nn.Module):
    """MaskedPairs at the two layers where SMALR compares: the universal one and the last."""

    def __init__(self, inner: int, dimension: int) -> None:
        super().__init__()
        self.inner, self.last = MaskedPairs(inner), MaskedPairs(dimension)

    def forward(self, hidden: tuple[Layers, Layers], whole: tuple[Layers, Layers]) -> Rebuilt:
        """(last, inner) layer of N sentences with words hidden and of their N counterparts; the same of the
        whole sentences -> for each layer 2N sentences completed and as they are."""
        found = []
        for layer, tell in enumerate((self.last, self.inner)):
            told = tell(hidden[0][layer], hidden[1][layer])
            found.append((told, F.normalize(torch.cat([side[layer] for side in whole]).float(), dim=1)))
        return tuple(found)
