"""Base classes of text encoders: settings that build one, and the encoder, from tokens to sentences."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Self, get_args

import torch
from pydantic import Field
from tokenizers import Tokenizer
from torch import Tensor, nn

from index.encoder.bundle import TOKENIZER
from training.data.folder import find_folder
from training.data.settings import SettingsTable
from training.data.training_data import TrainingData
from training.encoders.stored import Start
from training.encoders.vision import VisionSettings

# The name in a recipe -> the table [text] of the encoder.
ENCODERS: dict[str, type["EncoderSettings"]] = {}
TINY_ENCODER = "weights/tiny-text"  # where `train --smoke` puts a model with its tokenizer, below its data


class EncoderSettings(SettingsTable, ABC):
    """The table [text] of a recipe: one subclass a text encoder, named by its field `encoder`, a Literal.

    It declares what the encoder can do, so that a recipe is validated before any encoder is built.
    reads_sequence_token: whether its tokenizer puts <seq> first. brings_tokenizer: whether it
    comes with its own. shares_embeddings: whether a token has one embedding, `tokens`, for all languages.
    averages_words: whether a sentence is the mean of its tokens' vectors, the same in all languages, of which
    some can be held (`TrainingData.trained`). folder_key: the key that may name a folder below the data
    folder. tiny: overrides of the recipe with which `train --smoke` tries it in seconds.
    start: a finished run (looked for below the data folder first) of the same model, with whose vocabulary
    and weights a run begins; "stages": what the stage before ended with (`Recipe.stages`).
    """

    reads_sequence_token: ClassVar[bool] = False
    brings_tokenizer: ClassVar[bool] = False
    shares_embeddings: ClassVar[bool] = False
    averages_words: ClassVar[bool] = False
    folder_key: ClassVar[str] = "start"
    tiny: ClassVar[tuple[str, ...]] = ("text.width=32",)

    encoder: str
    width: int
    start: str = ""
    max_tokens: int = Field(default=64, ge=4, le=512)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:  # noqa: ANN401
        for name in get_args(cls.model_fields["encoder"].annotation):  # none of what others derive from
            ENCODERS[name] = cls

    def located(self, data: Path) -> Self:
        """A copy whose `folder_key` is a path below the data folder, if there is such a folder."""
        name = getattr(self, self.folder_key)
        folder = find_folder(name, data) if name else None
        return self.model_copy(update={self.folder_key: str(folder)}) if folder else self

    @abstractmethod
    def build(self, vocabulary: int, languages: int) -> "SentenceEncoder":
        """Build the encoder, with random or pretrained weights."""

    def own_tokenizer(self, texts: Iterable[str]) -> Tokenizer | None:
        """Load the tokenizer of `start` or the encoder's own, which may learn from texts; None without."""
        start = self.goes_on_from()
        return Tokenizer.from_file(str(start / TOKENIZER)) if isinstance(start, Path) else None

    def goes_on_from(self) -> Start | Path | None:
        """What a run goes on from: parts of an encoder, or a run and its whole model; None: nothing."""
        return Path(self.start) if self.start else None

    def requires(self, vision: VisionSettings) -> Iterator[str]:
        """Yield what the recipe lacks for this encoder, each as "text.KEY needs ..."."""
        yield from ()


class SentenceEncoder(nn.Module, ABC):
    """Encodes token ids (N, T) and a mask (N, T), 1 at tokens and 0 at pads, as sentences (N, width)."""

    def __init__(self, settings: EncoderSettings) -> None:
        super().__init__()
        self.width, self.max_tokens = settings.width, settings.max_tokens

    @property
    def inner_width(self) -> int:
        """The width of `inner`."""
        return self.width

    @abstractmethod
    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Encode each token: (N, T, any width)."""

    @abstractmethod
    def pool(self, states: Tensor, mask: Tensor) -> Tensor:
        """Pool token states to one vector a sentence (N, width), ignoring pads."""

    def inner(self, states: Tensor, mask: Tensor) -> Tensor | None:
        """The sentences at a shared layer below the last (N, inner_width).

        None for an encoder without one; `pool` is then read instead.
        """
        return None

    def encode_layers(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Encode sentences as (N, width), and at the inner layer (N, inner_width)."""
        states = self.states(ids, mask)
        pooled = self.pool(states, mask)
        inner = self.inner(states, mask)
        return pooled, pooled if inner is None else inner

    def initialise(self, data: TrainingData) -> None:
        """Set what the data determines without a gradient, before the first step."""

    def conclude(self) -> None:
        """Set what the end of a run determines without a gradient, after the last step."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.pool(self.states(ids, mask), mask)


def masked_mean(states: Tensor, weights: Tensor) -> Tensor:
    """Weighted mean over tokens: (N, T, W) and weights (N, T) -> (N, W), 0 where all weights are 0."""
    weights = weights.to(states.dtype)[..., None]
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


def last_states(states: Tensor, mask: Tensor) -> Tensor:
    """The state at each row's last token: (N, T, W) and a mask (N, T), ones first -> (N, W)."""
    last = (mask.sum(dim=1) - 1).clamp(min=0)
    return states.gather(1, last[:, None, None].expand(-1, 1, states.shape[2]))[:, 0]


def pick_device() -> torch.device:
    """This process's GPU if there is one, else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu")
