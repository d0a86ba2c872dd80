"""Identifies the language of a sentence from its tokens, inside the model, so that exports need no more."""

import numpy as np
import torch
from torch import Tensor, nn

from index.text.identification import log_probabilities
from training.data.training_data import TrainingData

COUNT_SMOOTHING = 0.5  # added to every token's count in every language
LOG_GRAIN = 1 / 1024  # logarithms are rounded to it, so that sums are exact in any order


class LanguageIdentifier(nn.Module):
    """Naive Bayes over tokens with a uniform prior: the language l with the largest Σ_t log p(t | l).

    `fit` counts tokens in captions whose language is known; the table is part of the checkpoint.
    """

    log_p: Tensor

    def __init__(self, vocabulary: int, languages: int) -> None:
        super().__init__()
        self.register_buffer("log_p", torch.zeros(vocabulary, languages))

    def fit(self, data: TrainingData) -> None:
        """Count tokens in the sentences of each language."""
        counts = np.zeros(tuple(self.log_p.shape))
        for column, language in enumerate(data.languages):
            tokens = [*data.sentences.get(language, ()), np.empty(0, np.int32)]
            np.add.at(counts[:, column], np.concatenate(tokens), 1)
        logarithms = log_probabilities(counts.T, COUNT_SMOOTHING).T
        self.log_p.copy_(torch.from_numpy(np.round(logarithms / LOG_GRAIN) * LOG_GRAIN))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Identify languages: token ids and mask (N, T) -> language numbers (N,)."""
        scores = (self.log_p[ids] * mask[..., None].to(self.log_p.dtype)).sum(dim=1)
        return scores.argmax(dim=1)
