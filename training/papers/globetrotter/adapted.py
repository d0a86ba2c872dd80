"""The text encoder of Sigurdsson et al. 2020: word embeddings and an adaptation layer for each language.

(Visual Grounding in Video for Unsupervised Word Translation; for many languages as in globetrotter, 5.1.)
"""

from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from training.data.training_data import TrainingData
from training.encoders.base import EncoderSettings, SentenceEncoder
from training.encoders.language_identifier import LanguageIdentifier


class AdaptedSettings(EncoderSettings):
    has_language_maps: ClassVar[bool] = True

    encoder: Literal["adapted"]
    width: int = Field(default=256, ge=2)
    dropout: float = Field(default=0.1, ge=0, lt=1)

    def build(self, vocabulary: int, languages: int) -> "Adapted":
        return Adapted(self, vocabulary, languages)


class Adapted(SentenceEncoder):
    """Token ids and mask (N, T) -> max-pooled sentence vectors (N, width).

    A token has an embedding in each language (one vocabulary for all, as in globetrotter 5.1). A language's
    embeddings go through its square matrix, the adaptation layer, then through a layer that all languages
    share; a sentence is the maximum over its tokens. Its language is identified from its tokens.
    """

    def __init__(self, settings: AdaptedSettings, vocabulary: int, languages: int) -> None:
        super().__init__(settings)
        self.settings = settings
        self.vocabulary = vocabulary
        self.identifier = LanguageIdentifier(vocabulary, languages)
        self.tokens = nn.Embedding(languages * vocabulary, settings.width)
        self.adaptations = nn.Parameter(torch.eye(settings.width).repeat(languages, 1, 1))
        self.shared = nn.Sequential(
            nn.Linear(settings.width, settings.width), nn.ReLU(), nn.Linear(settings.width, settings.width)
        )
        self.dropout = nn.Dropout(settings.dropout)

    def initialise(self, data: TrainingData) -> None:
        """Fit the language identifier."""
        self.identifier.fit(data)

    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Token states (N, T, width), without context."""
        language = self.identifier(ids, mask)
        words = self.tokens(ids + language[:, None] * self.vocabulary)
        out: Tensor = self.shared(self.dropout(words @ self.adaptations[language]))
        return out

    def pool(self, states: Tensor, mask: Tensor) -> Tensor:
        """Maximum over the tokens (N, width)."""
        return states.masked_fill(mask[..., None] == 0, float("-inf")).amax(dim=1)

    def language_maps(self) -> Tensor:
        """The adaptation layers (languages, width, width)."""
        return self.adaptations

    def word_table(self) -> Tensor:
        """(languages, vocabulary, width): each token's adapted embedding in each language."""
        words = self.tokens.weight.view(-1, self.vocabulary, self.width)
        out: Tensor = words @ self.adaptations
        return out
