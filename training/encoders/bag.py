"""A bag of subwords: the mean of token embeddings. Little data beats it rarely, nothing beats its speed."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from training.encoders.base import SentenceEncoder, masked_mean
from training.encoders.language_identifier import LanguageIdentifier


class BagSettings(BaseModel):
    """embeddings: "shared": a token has one for all languages; "per-language": one in each language;
    "picture-verified": one in each, shared between languages whose pictures agree on what the token means
    (training.encoders.picture_verified).
    false_discovery_rate: the expected share of wrongly shared tokens among the shared ones.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    encoder: Literal["bag"]
    embeddings: Literal["shared", "per-language", "picture-verified"] = "shared"
    false_discovery_rate: float = Field(default=0.2, gt=0, lt=1)
    width: int = Field(default=256, ge=2)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    token_dropout: float = Field(default=0.1, ge=0, lt=1)
    initial_scale: float = Field(default=0.02, gt=0)
    max_tokens: int = Field(default=64, ge=4, le=512)

    def build(self, vocabulary: int, languages: int = 1) -> "Bag":
        return Bag(self, vocabulary, languages)


class Bag(SentenceEncoder):
    """Token ids and mask (N, T) -> token embeddings (N, T, width), pooled by their mean (N, width).

    While training, tokens are left out of the mean with probability `token_dropout`, so that no caption is
    known by one rare token alone. With embeddings that are not shared the language is told from the tokens,
    in training as in use, and `rows` (vocabulary, languages) says where in `tokens` a token's embedding is.
    """

    rows: Tensor

    def __init__(self, settings: BagSettings, vocabulary: int, languages: int = 1) -> None:
        super().__init__()
        self.settings = settings
        self.width = settings.width
        self.vocabulary = vocabulary
        self.identifier: LanguageIdentifier | None = None
        if settings.embeddings != "shared":
            self.identifier = LanguageIdentifier(vocabulary, languages)
            every = torch.arange(vocabulary)[:, None] + vocabulary * torch.arange(languages)
            self.register_buffer("rows", every)
        self.tokens = nn.Embedding(vocabulary * (languages if self.identifier else 1), settings.width)
        self.dropout = nn.Dropout(settings.dropout)
        nn.init.normal_(self.tokens.weight, std=settings.initial_scale)

    def learn_languages(self, tokens: Sequence[NDArray[np.int32]], languages: NDArray[np.int64]) -> None:
        """Fit the identifier, where there is one, on sentences whose language is known."""
        if self.identifier:
            self.identifier.fit(tokens, languages)

    def share(self, rows: NDArray[np.int64]) -> None:
        """Take the rows of training.encoders.picture_verified."""
        self.rows.copy_(torch.from_numpy(rows))

    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Token embeddings (N, T, width): a bag has no context."""
        rows = self.rows[ids, self.identifier(ids, mask)[:, None]] if self.identifier else ids
        out: Tensor = self.tokens(rows)
        return out

    def pool(self, states: Tensor, mask: Tensor) -> Tensor:
        """Mean over the tokens (N, width)."""
        weights = mask.to(states.dtype)
        if self.training and self.settings.token_dropout:
            kept = torch.rand_like(weights) >= self.settings.token_dropout
            weights = weights * kept
        pooled: Tensor = self.dropout(masked_mean(states, weights))
        return pooled

    def word_table(self) -> Tensor:
        """The token embeddings: (vocabulary, width), or (languages, vocabulary, width) if not shared."""
        weight = self.tokens.weight
        return weight[self.rows.T] if self.identifier else weight
