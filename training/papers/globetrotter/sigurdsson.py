"""The baseline of Globetrotter, 5.1, after Sigurdsson et al. 2020 (Visual Grounding in Video for Unsupervised
Word Translation): word embeddings and an adaptation layer for each language, kept near rotations.
"""

from collections.abc import Iterator
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from training.data.training_data import TrainingData
from training.encoders.base import EncoderSettings, SentenceEncoder
from training.objectives.base import Forward, Objective, Step, Tables, named
from training.papers.shared.language_identifier import LanguageIdentifier


class AdaptedSettings(EncoderSettings):
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


@named("orthogonality")
class Orthogonality(Objective):
    """Mean over languages of ||W Wᵀ - I||², the squared Frobenius norm.

    W is the square matrix of a language's word vectors, before the layers that all languages share; the
    penalty keeps it near a rotation. It is the same for all chunks of a batch.
    """

    by_term: ClassVar[bool] = True
    rows: ClassVar[tuple[str, ...]] = ("text",)

    def requires(self, recipe: Tables) -> Iterator[str]:
        if not isinstance(recipe.text, AdaptedSettings):
            yield 'text.encoder = "adapted"'

    def compute(self, forward: Forward) -> dict[str, tuple[Tensor, ...]]:
        encoder = forward.model.text
        assert isinstance(encoder, Adapted), "`requires` demands it"
        return {"language_maps": (encoder.adaptations,)}

    def __call__(self, step: Step) -> Tensor:
        (w,) = step["language_maps"]
        identity = torch.eye(w.shape[-1], dtype=w.dtype, device=w.device)
        return (w @ w.mT - identity).square().sum(dim=(1, 2)).mean()
