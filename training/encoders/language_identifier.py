"""Identifies the language of a sentence by its tokens, inside the model: exported, it gets nothing else."""

import numpy as np
import torch
from torch import Tensor, nn

from index.text.identification import log_probabilities
from training.data.training_data import TrainingData

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

    def fit(self, data: TrainingData) -> None:
        """Learn from the sentences of each language."""
        counts = np.zeros(tuple(self.log_p.shape))
        for column, language in enumerate(data.languages):
            tokens = [*data.sentences.get(language, ()), np.empty(0, np.int32)]
            np.add.at(counts[:, column], np.concatenate(tokens), 1)
        logarithms = log_probabilities(counts.T, SMOOTHING).T
        self.log_p.copy_(torch.from_numpy(np.round(logarithms / GRAIN) * GRAIN))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Token ids and mask (N, T) -> the place of each sentence's language (N,)."""
        scores = (self.log_p[ids] * mask[..., None].to(self.log_p.dtype)).sum(dim=1)
        return scores.argmax(dim=1)
