"""Any Hugging Face text encoder, by name or folder, with the vocabulary that it was trained with (Krasner et
al. 2025, 3.1)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from safetensors import SafetensorError
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

from index.errors import DataError
from training.encoders.base import SentenceEncoder, masked_mean

# What libraries raise for a model that is not there, not whole, or asks to run code of its own.
NOT_LOADABLE = (OSError, ValueError, KeyError, ImportError, SafetensorError)

EAGER = {"attn_implementation": "eager"}  # the attention that has an ONNX form for any length


class PretrainedSettings(BaseModel):
    """model: a Hugging Face name, or a folder (looked for below the data folder first); weights as
    safetensors only. width: of its hidden states, checked when it is loaded.
    pooling: the mean over the tokens that are no pads, or the "first" token's state.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    encoder: Literal["pretrained"]
    model: str = Field(min_length=1)
    width: int = Field(ge=2)
    pooling: Literal["mean", "first"] = "mean"
    max_tokens: int = Field(default=64, ge=4, le=512)


class Pretrained(SentenceEncoder):
    """Token ids and mask (N, T) -> token states (N, T, width), pooled (N, width)."""

    def __init__(self, settings: PretrainedSettings, model: nn.Module, pad: int) -> None:
        super().__init__()
        self.settings = settings
        self.width = settings.width
        self.model = model
        self.pad = pad  # the model's own: some count positions by it

    @property
    def tokens(self) -> nn.Embedding:
        """The token embeddings, (vocabulary, width)."""
        found: nn.Embedding = self.model.get_input_embeddings()  # type: ignore[operator]
        return found

    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Contextual token states (N, T, width)."""
        padded = ids.masked_fill(mask == 0, self.pad)
        out: Tensor = self.model(input_ids=padded, attention_mask=mask).last_hidden_state
        return out

    def pool(self, states: Tensor, mask: Tensor) -> Tensor:
        """One vector a sentence (N, width); pads count for nothing."""
        if self.settings.pooling == "first":
            return states[:, 0]
        return masked_mean(states, mask)

    def word_table(self) -> Tensor:
        """The token embeddings (vocabulary, width)."""
        return self.tokens.weight


@dataclass(frozen=True)
class Source:
    """Where a pretrained text encoder is: a folder below the data, a folder, or a Hugging Face name."""

    settings: PretrainedSettings
    place: str

    @classmethod
    def of(cls, settings: PretrainedSettings, data: Path) -> "Source":
        """The place of `settings.model`, looked for below `data` first."""
        folders = (data / settings.model, Path(settings.model))
        return cls(settings, next((str(path) for path in folders if path.is_dir()), settings.model))

    def encoder(self) -> Pretrained:
        """The encoder with its weights. DataError when it can't be loaded or does not fit the recipe."""
        disable_progress_bar()
        try:
            model = AutoModel.from_pretrained(self.place, use_safetensors=True, **EAGER)
        except NOT_LOADABLE as error:
            raise self._error(error) from None
        self._check(model.config)
        pad = getattr(model.config, "pad_token_id", None)
        return Pretrained(self.settings, model, int(pad or 0))

    def tokenizer(self) -> Tokenizer:
        """The encoder's own vocabulary, cut at `max_tokens`. DataError when it can't be loaded."""
        try:
            fast = AutoTokenizer.from_pretrained(self.place, use_fast=True)
            tokenizer = Tokenizer.from_str(fast.backend_tokenizer.to_str())
        except (*NOT_LOADABLE, AttributeError) as error:
            raise self._error(error) from None
        tokenizer.enable_padding(pad_id=fast.pad_token_id or 0, pad_token=fast.pad_token or "<pad>")
        tokenizer.enable_truncation(self.settings.max_tokens)
        return tokenizer

    def _check(self, config: Any) -> None:  # noqa: ANN401 (transformers is untyped)
        if config.hidden_size != self.settings.width:
            raise DataError(
                f"text.model {self.settings.model} has width {config.hidden_size}: set text.width to it"
            )
        # XLM-R counts positions from behind its pad's number; two are spare in all of its kind.
        longest = getattr(config, "max_position_embeddings", None)
        if longest is not None and self.settings.max_tokens > longest - 2:
            raise DataError(
                f"text.model {self.settings.model} has {longest} positions: set text.max_tokens to "
                f"{longest - 2} or less"
            )

    def _error(self, error: Exception) -> DataError:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        return DataError(
            f"text.model {self.settings.model}: neither a folder with a model, a tokenizer.json and "
            f"safetensors nor loadable: {reason}"
        )


def load_text(settings: object, data: Path) -> Pretrained | None:
    """The pretrained text encoder of a recipe's settings, None where they describe one that is built."""
    return Source.of(settings, data).encoder() if isinstance(settings, PretrainedSettings) else None


def own_tokenizer(settings: object, data: Path) -> Tokenizer | None:
    """The vocabulary that comes with a pretrained text encoder, None where the run learns one."""
    return Source.of(settings, data).tokenizer() if isinstance(settings, PretrainedSettings) else None


def check_vocabulary(encoder: Pretrained, tokenizer: Tokenizer) -> None:
    """DataError unless each token has an embedding."""
    if tokenizer.get_vocab_size() > encoder.tokens.num_embeddings:
        raise DataError(
            f"text.model {encoder.settings.model}: {tokenizer.get_vocab_size()} tokens, "
            f"{encoder.tokens.num_embeddings} embeddings: its tokenizer is another model's"
        )
