"""The transformer text encoder (globetrotter, 3.5 and B.3)."""

from typing import ClassVar, Literal

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from training.encoders.base import EncoderSettings, SentenceEncoder, masked_mean


class TransformerSettings(EncoderSettings):
    reads_sequence_token: ClassVar[bool] = True
    shares_embeddings: ClassVar[bool] = True
    tiny: ClassVar[tuple[str, ...]] = (
        "text.width=32",
        "text.layers=1",
        "text.heads=2",
        "text.feedforward=64",
    )

    encoder: Literal["transformer"]
    width: int = Field(default=512, ge=8)
    layers: int = Field(default=4, ge=1)
    heads: int = Field(default=4, ge=1)
    feedforward: int = Field(default=1024, ge=8)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    max_tokens: int = Field(default=50, ge=4, le=512)
    pooling: Literal["first", "mean"] = "first"

    @model_validator(mode="after")
    def _heads_divide(self) -> "TransformerSettings":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not a multiple of heads {self.heads}")
        return self

    def build(self, vocabulary: int, languages: int) -> "Transformer":
        return Transformer(self, vocabulary)


class Transformer(SentenceEncoder):
    """Token ids and mask (N, T) -> token states (N, T, width), pooled (N, width).

    Tokens are embedded by a shared matrix, moved by a learned position vector (B.3); layers are those of
    `torch.nn.TransformerEncoder` (GELU, post-norm as in BERT). Pooling "first" reads the state of the [SEQ]
    token that the tokenizer puts first, "mean" the mean over tokens. Pads are not attended to,
    as they are in the published code.
    """

    def __init__(self, settings: TransformerSettings, vocabulary: int) -> None:
        super().__init__(settings)
        self.settings = settings
        self.tokens = nn.Embedding(vocabulary, settings.width)
        self.positions = nn.Embedding(settings.max_tokens, settings.width)
        self.norm = nn.LayerNorm(settings.width)
        self.dropout = nn.Dropout(settings.dropout)
        layer = nn.TransformerEncoderLayer(
            settings.width,
            settings.heads,
            settings.feedforward,
            settings.dropout,
            activation="gelu",
            batch_first=True,
        )
        self.layers = nn.TransformerEncoder(layer, settings.layers, enable_nested_tensor=False)
        nn.init.normal_(self.tokens.weight, std=0.02)
        nn.init.normal_(self.positions.weight, std=0.02)

    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Contextual token states (N, T, width)."""
        position = torch.arange(ids.shape[1], device=ids.device)
        embedded = self.dropout(self.norm(self.tokens(ids) + self.positions(position)))
        out: Tensor = self.layers(embedded, src_key_padding_mask=mask == 0)
        return out

    def pool(self, states: Tensor, mask: Tensor) -> Tensor:
        """One vector a sentence (N, width)."""
        if self.settings.pooling == "first":
            return states[:, 0]
        return masked_mean(states, mask)
