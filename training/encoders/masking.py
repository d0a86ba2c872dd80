"""BERT's token masking (Devlin et al. 2019), for the cloze."""

import torch
from torch import Tensor

from training.data.tokens import MASK_ID, SPECIAL

REPLACED, RANDOM = 0.8, 0.1  # shares of the chosen tokens; the rest stay as they are


def mask_tokens(ids: Tensor, share: float, vocabulary: int) -> tuple[Tensor, Tensor]:
    """Token ids (N, T) -> (masked ids (N, T), chosen (N, T) bool).

    Each ordinary token is chosen with probability `share`; special tokens never. Draws from torch's global
    generator, whose state a checkpoint keeps.
    """
    chosen = (torch.rand(ids.shape, device=ids.device) < share) & (ids >= len(SPECIAL))
    fate = torch.rand(ids.shape, device=ids.device)
    random = torch.randint(len(SPECIAL), max(vocabulary, len(SPECIAL) + 1), ids.shape, device=ids.device)
    masked = torch.where(chosen & (fate < REPLACED), torch.full_like(ids, MASK_ID), ids)
    swapped = chosen & (fate >= REPLACED) & (fate < REPLACED + RANDOM)
    return torch.where(swapped, random, masked), chosen
