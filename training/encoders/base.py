"""What all text encoders are: settings that build one, a state for each token, a vector for each sentence."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Self

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from training.data.settings import Table
from training.data.training_data import TrainingData
from training.encoders.vision import VisionSettings


class EncoderSettings(Table, ABC):
    """The table [text] of a recipe: one subclass a text encoder.

    What an encoder can do stands here, where a recipe is validated, before any encoder is built:
    reads_sequence_token: whether the vocabulary that it is given puts <seq> first. can_grow: whether a
    language can be added to a finished run. has_decoder_parts: whether a decoder can be built on its token
    and position embeddings. has_language_maps: whether each language's words go
    through a matrix.
    """

    reads_sequence_token: ClassVar[bool] = False
    can_grow: ClassVar[bool] = False
    has_decoder_parts: ClassVar[bool] = False
    has_language_maps: ClassVar[bool] = False

    encoder: str
    width: int
    max_tokens: int

    @abstractmethod
    def build(self, vocabulary: int, languages: int, data: Path) -> "SentenceEncoder":
        """The encoder, with random weights or those that it comes with; `data` is the data folder."""

    def own_tokenizer(self, data: Path) -> Tokenizer | None:
        """The vocabulary that the encoder comes with; None where the run learns one."""
        return None

    def requires(self, vision: VisionSettings) -> Iterator[str]:
        """What the rest of the recipe lacks for it, each as "text.KEY needs ..."."""
        yield from ()

    @property
    def brings_tokenizer(self) -> bool:
        """Whether the encoder comes with its vocabulary."""
        return False

    @property
    def shares_embeddings(self) -> bool:
        """Whether a token has one embedding, `tokens`, for all languages."""
        return False

    @property
    def averages_words(self) -> bool:
        """Whether a sentence is the mean of its tokens' rows in one `word_table` for all languages."""
        return False

    @property
    def needs_all_sentences(self) -> bool:
        """Whether it is initialised from all sentences, which a stream does not have at once."""
        return True

    @property
    def sees_padding(self) -> bool:
        """Whether padding changes what it gives: a batch is then not cut into groups of like length."""
        return False


class SentenceEncoder(nn.Module, ABC):
    """Token ids (N, T) and a mask (N, T), 1 at tokens and 0 at pads -> one vector a sentence (N, width)."""

    def __init__(self, settings: EncoderSettings) -> None:
        super().__init__()
        self.width, self.max_tokens = settings.width, settings.max_tokens

    @property
    def inner_width(self) -> int:
        """The width of `inner`."""
        return self.width

    @abstractmethod
    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """A vector for each token (N, T, any width)."""

    @abstractmethod
    def pool(self, states: Tensor, mask: Tensor) -> Tensor:
        """One vector a sentence (N, width) of its tokens' states; pads count for nothing."""

    def inner(self, states: Tensor, mask: Tensor) -> Tensor | None:
        """The sentences at a layer below the last that languages share (N, inner_width); None for an encoder
        without one, whose `pool` stands for it."""
        return None

    @abstractmethod
    def word_table(self) -> Tensor:
        """Each token's vector without a context: (vocabulary, any width), or (languages, vocabulary, ...)."""

    def language_maps(self) -> Tensor:
        """(languages, W, W), the square matrix that each language's word vectors go through."""
        raise NotImplementedError(f"{type(self).__name__} has none")

    def initialise(self, data: TrainingData) -> None:
        """Learn from the data what is not learned by gradient, before the first step."""

    def grow(self, smaller: Self, data: TrainingData) -> None:
        """Take over what `smaller` learned, which knows all languages but the last of `data` and all tokens
        but the last ones of this encoder's vocabulary; what is new stays as it was built."""
        copy_weights(smaller, self)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.pool(self.states(ids, mask), mask)


@torch.no_grad()
def copy_weights(source: nn.Module, target: nn.Module) -> None:
    """Copy each tensor of `source` into the first rows and columns of the one of that name in `target`."""
    state = target.state_dict()
    for name, tensor in source.state_dict().items():
        state[name][tuple(slice(length) for length in tensor.shape)] = tensor


@torch.no_grad()
def copy_blocks(source: nn.Embedding, target: nn.Embedding, languages: int) -> None:
    """Copy a table with a block of rows for each of `languages` languages into one with larger blocks."""
    blocks = source.weight.view(languages, -1, source.embedding_dim)
    rows = target.weight.view(-1, target.num_embeddings // (languages + 1), target.embedding_dim)
    rows[:languages, : blocks.shape[1]] = blocks


def masked_mean(states: Tensor, weights: Tensor) -> Tensor:
    """(N, T, W) and weights (N, T) -> (N, W), each row's weighted mean; 0 where no weight is."""
    weights = weights.to(states.dtype)[..., None]
    mean: Tensor = (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
    return mean


def last_states(states: Tensor, mask: Tensor) -> Tensor:
    """(N, T, W) and a mask (N, T) whose ones come first -> (N, W), each row's state at its last one."""
    last = (mask.sum(dim=1) - 1).clamp(min=0)
    out: Tensor = states.gather(1, last[:, None, None].expand(-1, 1, states.shape[2]))[:, 0]
    return out
