"""Tells the language of a sentence from its tokens, inside the model: an exported one gets nothing else."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

SMOOTHING = 0.5  # of a sighting, that every token has had in every language
GRAIN = 1 / 1024  # logarithms are multiples of it, so that sums are exact and do not depend on pads or order


class LanguageIdentifier(nn.Module):
    """Naive Bayes over tokens: the language l with the largest Σ_t log p(t | l), all alike beforehand.

    `fit` counts tokens in captions whose language is known; the table is part of the checkpoint.
    """

    log_p: Tensor

    def __init__(self, vocabulary: int, languages: int) -> None:
        super().__init__()
        self.register_buffer("log_p", torch.zeros(vocabulary, languages))

    def fit(self, tokens: Sequence[NDArray[np.int32]], languages: NDArray[np.int64]) -> None:
        """Learn from sentences' token ids and the place of each one's language."""
        counts = np.full(tuple(self.log_p.shape), SMOOTHING)
        lengths = [len(row) for row in tokens]
        np.add.at(counts, (np.concatenate(tokens), np.repeat(languages, lengths)), 1)
        logarithms = np.log(counts / counts.sum(axis=0))
        self.log_p.copy_(torch.from_numpy(np.round(logarithms / GRAIN) * GRAIN))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Token ids and mask (N, T) -> the place of each sentence's language (N,)."""
        scores = (self.log_p[ids] * mask[..., None].to(self.log_p.dtype)).sum(dim=1)
        return scores.argmax(dim=1)
