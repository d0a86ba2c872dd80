"""The noise of a denoising autoencoder (Lample et al. 2018, 2.3): tokens lost, hidden, out of order."""

import torch
from torch import Tensor

from training.data.tokens import MASK_ID, PAD_ID


def noisy(ids: Tensor, mask: Tensor, *, drop: float, blank: float, reach: int) -> tuple[Tensor, Tensor]:
    """Ids and mask (N, T) -> those of the noisy sentences (N, T), pads last.

    Each token but the first, <seq>, is lost with probability `drop` (one always stays), else becomes <mask>
    with probability `blank`; none moves by more than `reach` places. Draws from torch's global generator.
    """
    place = torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)
    key = place + torch.rand(ids.shape, device=ids.device) * (reach + 1)
    chance = torch.rand(ids.shape, device=ids.device)
    ordinary = (mask == 1) & (place > 0)
    spared = chance == chance.masked_fill(~ordinary, -1).amax(dim=1, keepdim=True)
    lost = (chance < drop) & ordinary & ~spared
    blanked = (torch.rand(ids.shape, device=ids.device) < blank) & ordinary
    out = ids.masked_fill(blanked, MASK_ID).masked_fill(lost, PAD_ID)
    kept = (mask == 1) & ~lost
    key = key.masked_fill(place == 0, -1.0).masked_fill(~kept, float("inf"))
    order = key.argsort(dim=1, stable=True)
    return out.gather(1, order), kept.long().gather(1, order)
