"""The text encoder of Kádár et al. 2019 (3.1): a GRU whose last state is the sentence."""

from typing import ClassVar, Literal

from pydantic import Field
from torch import Tensor, nn

from training.encoders.base import EncoderSettings, SentenceEncoder, last_states


class GRUSettings(EncoderSettings):
    """Settings of the GRU.

    embedding: the width of a token's vector; width: that of the GRU's state (300 and 1024 in the paper).
    dropout: on embeddings; the paper does not mention any.
    """

    tiny: ClassVar[tuple[str, ...]] = ("text.width=32", "text.embedding=32")

    encoder: Literal["gru"]
    embedding: int = Field(default=300, ge=2)
    width: int = Field(default=1024, ge=2)
    dropout: float = Field(default=0.0, ge=0, lt=1)

    def build(self, vocabulary: int, languages: int) -> "GRU":
        return GRU(self, vocabulary)


class GRU(SentenceEncoder):
    """Token ids and mask (N, T) -> states (N, T, width), pooled by the state after the last token (N, width).

    One direction, one layer (Cho et al. 2014): a state does not depend on later tokens, so pads,
    which come last, change nothing.
    """

    def __init__(self, settings: GRUSettings, vocabulary: int) -> None:
        super().__init__(settings)
        self.tokens = nn.Embedding(vocabulary, settings.embedding)
        self.dropout = nn.Dropout(settings.dropout)
        self.gru = nn.GRU(settings.embedding, settings.width, batch_first=True)
        nn.init.uniform_(self.tokens.weight, -0.1, 0.1)

    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The state after each token (N, T, width)."""
        out: Tensor = self.gru(self.dropout(self.tokens(ids)))[0]
        return out

    def pool(self, states: Tensor, mask: Tensor) -> Tensor:
        """The state after the last token (N, width)."""
        return last_states(states, mask)
