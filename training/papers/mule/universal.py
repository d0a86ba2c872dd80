"""The text encoder of MULE (Kim et al. 2020): word vectors and a linear layer for each language, one LSTM."""

from typing import ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from training.data.training_data import TrainingData
from training.encoders.base import EncoderSettings, SentenceEncoder, last_states, masked_mean
from training.papers.mule.word_vectors import initial_word_vectors
from training.papers.shared.language_identifier import LanguageIdentifier


class UniversalSettings(EncoderSettings):
    """Settings of MULE's encoder.

    words: the width of word vectors; universal: of the universal embedding; width: of the LSTM's state
    (512 and 1024 in the paper). dropout: on universal words.
    """

    tiny: ClassVar[tuple[str, ...]] = ("text.width=32", "text.words=24", "text.universal=32")

    encoder: Literal["universal"]
    words: int = Field(default=300, ge=2)
    universal: int = Field(default=512, ge=2)
    width: int = Field(default=1024, ge=2)
    dropout: float = Field(default=0.0, ge=0, lt=1)

    def build(self, vocabulary: int, languages: int) -> "Universal":
        return Universal(self, vocabulary, languages)


class Universal(SentenceEncoder):
    """Token ids and mask (N, T) -> universal words (N, T, universal), pooled by the LSTM (N, width).

    A token has a word vector in each language, which goes through that language's linear layer. The last
    state of an LSTM over the words is the sentence; their mean is the sentence at the inner layer. The
    language of a sentence is identified from its tokens.
    """

    def __init__(self, settings: UniversalSettings, vocabulary: int, languages: int) -> None:
        super().__init__(settings)
        self.settings = settings
        self.vocabulary = vocabulary
        self.identifier = LanguageIdentifier(vocabulary, languages)
        self.tokens = nn.Embedding(languages * vocabulary, settings.words)
        bound = settings.words**-0.5
        self.layers = nn.Parameter(torch.empty(languages, settings.words, settings.universal))
        nn.init.uniform_(self.layers, -bound, bound)
        self.biases = nn.Parameter(torch.zeros(languages, settings.universal))
        self.dropout = nn.Dropout(settings.dropout)
        self.lstm = nn.LSTM(settings.universal, settings.width, batch_first=True)

    @property
    def inner_width(self) -> int:
        return self.settings.universal

    @torch.no_grad()
    def initialise(self, data: TrainingData) -> None:
        """Fit the language identifier and set the word vectors."""
        self.identifier.fit(data)
        vectors = initial_word_vectors(data, self.settings.words)
        self.tokens.weight.copy_(torch.from_numpy(np.concatenate(vectors)))

    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Universal words (N, T, universal), without context."""
        language = self.identifier(ids, mask)
        words = self.tokens(ids + language[:, None] * self.vocabulary)
        out: Tensor = self.dropout(words @ self.layers[language] + self.biases[language][:, None])
        return out

    def inner(self, states: Tensor, mask: Tensor) -> Tensor:
        """The mean of the universal words (N, universal): u of the paper."""
        return masked_mean(states, mask)

    def pool(self, states: Tensor, mask: Tensor) -> Tensor:
        """The LSTM's state after the last word (N, width)."""
        return last_states(self.lstm(states)[0], mask)
