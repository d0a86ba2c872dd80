"""Any Hugging Face text encoder, by name or folder, with its own tokenizer (Krasner et al. 2025, 3.1)."""

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

from pydantic import Field
from safetensors import SafetensorError
from tokenizers import Tokenizer
from torch import Tensor, nn

from index.errors import DataError
from training.encoders.base import TINY_ENCODER, EncoderSettings, SentenceEncoder, masked_mean

# What libraries raise for a model that is missing, incomplete, or asks to run its own code.
NOT_LOADABLE = (OSError, ValueError, KeyError, ImportError, SafetensorError)

EAGER_ATTENTION = {"attn_implementation": "eager"}  # the attention that has an ONNX form for any length


class PretrainedSettings(EncoderSettings):
    """Settings of a pretrained encoder.

    model: a Hugging Face name, or a folder (looked for below the data folder first); weights as
    safetensors only. width: of its hidden states, checked when it is loaded.
    pooling: the "mean" over all tokens but padding, or the "first" token's state.
    """

    brings_tokenizer: ClassVar[bool] = True
    folder_key: ClassVar[str] = "model"
    tiny: ClassVar[tuple[str, ...]] = (f"text.model={TINY_ENCODER}", "text.width=32", "text.max_tokens=64")

    encoder: Literal["pretrained"]
    model: str = Field(min_length=1)
    width: int = Field(ge=2)
    pooling: Literal["mean", "first"] = "mean"

    def build(self, vocabulary: int, languages: int) -> "Pretrained":
        """Load the encoder with its weights. DataError if that fails or it does not fit the recipe."""
        from transformers import AutoModel  # which takes seconds to import
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        try:
            model = AutoModel.from_pretrained(self.model, use_safetensors=True, **EAGER_ATTENTION)
        except NOT_LOADABLE as error:
            raise self._error(error) from None
        self._check(model.config)
        encoder = Pretrained(self, model, int(getattr(model.config, "pad_token_id", None) or 0))
        if vocabulary > encoder.tokens.num_embeddings:
            raise DataError(
                f"text.model {self.model}: {vocabulary} tokens, {encoder.tokens.num_embeddings} embeddings: "
                "its tokenizer is another model's"
            )
        return encoder

    def own_tokenizer(self, texts: Iterable[str]) -> Tokenizer:
        """Load the encoder's own tokenizer, truncating at `max_tokens`. DataError if that fails."""
        from transformers import AutoTokenizer

        try:
            fast = AutoTokenizer.from_pretrained(self.model, use_fast=True)
            tokenizer = Tokenizer.from_str(fast.backend_tokenizer.to_str())
        except (*NOT_LOADABLE, AttributeError) as error:
            raise self._error(error) from None
        tokenizer.enable_padding(pad_id=fast.pad_token_id or 0, pad_token=fast.pad_token or "<pad>")
        tokenizer.enable_truncation(self.max_tokens)
        return tokenizer

    def _check(self, config: Any) -> None:  # noqa: ANN401 (transformers is untyped)
        if config.hidden_size != self.width:
            raise DataError(f"text.model {self.model} has width {config.hidden_size}: set text.width to it")
        # XLM-R and its relatives number positions from after the pad id: two positions are lost.
        longest = getattr(config, "max_position_embeddings", None)
        if longest is not None and self.max_tokens > longest - 2:
            raise DataError(
                f"text.model {self.model} has {longest} positions: set text.max_tokens to {longest - 2}"
            )

    def _error(self, error: Exception) -> DataError:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        return DataError(
            f"text.model {self.model}: neither a folder with a model, a tokenizer.json and "
            f"safetensors nor loadable: {reason}"
        )


class Pretrained(SentenceEncoder):
    """Token ids and mask (N, T) -> token states (N, T, width), pooled (N, width)."""

    def __init__(self, settings: PretrainedSettings, model: nn.Module, pad: int) -> None:
        super().__init__(settings)
        self.settings = settings
        self.model = model
        self.pad = pad  # the model's own: some count positions by it

    @property
    def tokens(self) -> nn.Embedding:
        """The token embeddings, (vocabulary, width)."""
        embeddings: nn.Embedding = self.model.get_input_embeddings()  # type: ignore[operator]
        return embeddings

    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Contextual token states (N, T, width)."""
        padded = ids.masked_fill(mask == 0, self.pad)
        out: Tensor = self.model(input_ids=padded, attention_mask=mask).last_hidden_state
        return out

    def pool(self, states: Tensor, mask: Tensor) -> Tensor:
        """Pool to one vector a sentence (N, width), ignoring pads."""
        if self.settings.pooling == "first":
            return states[:, 0]
        return masked_mean(states, mask)
