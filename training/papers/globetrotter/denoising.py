"""The denoising autoencoder of Lample et al. 2018, as in Lample & Conneau 2019.

(Unsupervised Machine Translation Using Monolingual Corpora Only, eq. 1.)
"""

from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from training.data.tokens import MASK_ID, PAD_ID
from training.objectives.base import Forward, named
from training.papers.globetrotter.decoder import Writing


@named("denoising")
class Denoising(Writing):
    """Cross-entropy of a sentence's tokens, decoded from a noisy version of it.

    Noise: tokens are dropped with probability `drop`, masked with `blank`, and moved by at most `reach`
    places.
    """

    written: ClassVar[str] = "denoising"

    drop: float = Field(default=0.1, ge=0, lt=1)
    blank: float = Field(default=0.1, ge=0, lt=1)
    reach: int = Field(default=3, ge=0)

    def compute(self, forward: Forward) -> dict[str, tuple[Tensor, ...]]:
        ids, mask = forward.batch.ids, forward.batch.mask
        noisy_texts = noisy(ids, mask, drop=self.drop, blank=self.blank, reach=self.reach)
        return {self.written: self.write(forward, noisy_texts, (ids, mask), forward.language_places())}


def noisy(ids: Tensor, mask: Tensor, *, drop: float, blank: float, reach: int) -> tuple[Tensor, Tensor]:
    """Add noise to sentences: ids and mask (N, T), pads last (Lample et al. 2018, 2.3).

    Each token but the first, <seq>, is dropped with probability `drop` (one always stays), else becomes
    <mask> with probability `blank`; none moves by more than `reach` places. Draws from torch's global
    generator.
    """
    position = torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)
    key = position + torch.rand(ids.shape, device=ids.device) * (reach + 1)
    chance = torch.rand(ids.shape, device=ids.device)
    ordinary = (mask == 1) & (position > 0)
    spared = chance == chance.masked_fill(~ordinary, -1).amax(dim=1, keepdim=True)
    lost = (chance < drop) & ordinary & ~spared
    blanked = (torch.rand(ids.shape, device=ids.device) < blank) & ordinary
    out = ids.masked_fill(blanked, MASK_ID).masked_fill(lost, PAD_ID)
    is_kept = (mask == 1) & ~lost
    key = key.masked_fill(position == 0, -1.0).masked_fill(~is_kept, float("inf"))
    order = key.argsort(dim=1, stable=True)
    return out.gather(1, order), is_kept.long().gather(1, order)
