"""The bag-of-subwords text encoder: the mean of token embeddings, the fastest encoder."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from pydantic import Field
from tokenizers import Tokenizer
from torch import Tensor, nn

from index.errors import UsageError
from training.data.training_data import TrainingData
from training.data.vocabulary_extension import grown_vocabulary
from training.encoders.base import EncoderSettings, SentenceEncoder, masked_mean
from training.encoders.stored import Start, open_start
from training.encoders.vision import VisionSettings

INITIAL_SCALE = 0.02  # the standard deviation of embeddings at first
TRAINED_SHARE = 0.3  # of a subword's occurrences that are in trained languages, for it to be trained


class TokenMeanSettings(EncoderSettings):
    """Settings of a mean of token embeddings.

    dropout: of the mean. token_dropout: the probability that a token is left out of it.
    """

    width: int = Field(default=256, ge=2)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    token_dropout: float = Field(default=0.1, ge=0, lt=1)


class BagSettings(TokenMeanSettings):
    """Settings of the bag of subwords, and what it goes on from.

    start: an encoder bundle, or a finished run (looked for below the data folder first) of the same kind
    and width: the run goes on from its vocabulary, in place of one learned as [tokenizer] says, its
    embeddings, and its picture space if it has one, whatever the pictures; the backbone is the same.
    "stages": what the stage before ended with (`Recipe.stages`).
    start_share: the share of `start` in the embeddings that the run ends with, for the tokens that `start`
    has: a mean of both, so that what it knew better is not lost (Wortsman et al. 2022, Robust fine-tuning of
    zero-shot models).
    bound_norms: whether embeddings that are longer than the median end as long as it. Those of rare tokens
    grow long, and would outweigh the rest of their sentences.
    start_merges: tokens added to the vocabulary of `start` at most, each a merge of two (training.data.
    vocabulary_extension) whose embedding begins as their sum, so that sentences begin where `start` has them.
    """

    shares_embeddings: ClassVar[bool] = True
    averages_words: ClassVar[bool] = True

    encoder: Literal["bag"]
    start_share: float = Field(default=0.0, ge=0, lt=1)
    bound_norms: bool = False
    start_merges: int = Field(default=0, ge=0, le=50_000)

    def build(self, vocabulary: int, languages: int) -> "Bag":
        return Bag(self, vocabulary)

    def own_tokenizer(self, texts: Iterable[str]) -> Tokenizer | None:
        """Load the tokenizer of `start`, with merges from `texts`; None without a start."""
        if (start := self.goes_on_from()) is None:
            return None
        tokenizer = Tokenizer.from_file(str(start.tokenizer))
        return grown_vocabulary(tokenizer, texts, self.start_merges) if self.start_merges else tokenizer

    def goes_on_from(self) -> Start | None:
        return open_start(Path(self.start)) if self.start else None

    def requires(self, vision: VisionSettings) -> Iterator[str]:
        for key in ("start_share", "start_merges"):
            if getattr(self, key) and not self.start:
                yield f"text.{key} needs text.start"


class TokenMean(SentenceEncoder):
    """Token ids and mask (N, T) -> token embeddings (N, T, width), pooled by their mean (N, width).

    In training, tokens are left out of the mean with probability `token_dropout`, so that no caption is
    recognised by one rare token alone.
    """

    def __init__(self, settings: TokenMeanSettings, embeddings: int) -> None:
        super().__init__(settings)
        self.token_dropout = settings.token_dropout
        # A dense gradient of each group of captions and pairs would be all zeros but for some rows.
        self.tokens = nn.Embedding(embeddings, settings.width, sparse=True)
        self.tokens.weight.register_post_accumulate_grad_hook(_make_dense)  # type: ignore[no-untyped-call]
        self.dropout = nn.Dropout(settings.dropout)
        nn.init.normal_(self.tokens.weight, std=INITIAL_SCALE)

    def table_rows(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The row of each token's embedding (N, T)."""
        return ids

    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Token embeddings (N, T, width), without context."""
        out: Tensor = self.tokens(self.table_rows(ids, mask))
        return out

    def pool(self, states: Tensor, mask: Tensor) -> Tensor:
        """Mean over the tokens (N, width)."""
        pooled: Tensor = self.dropout(masked_mean(states, self._weights(mask)))
        return pooled

    def encode_layers(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The same as pooled states without computing those of pads, which would be most of them."""
        weights = self._weights(mask)
        weights = weights / weights.sum(dim=1, keepdim=True).clamp(min=1)
        lengths, is_token = mask.sum(dim=1), mask.bool()
        means = F.embedding_bag(
            self.table_rows(ids, mask)[is_token],
            self.tokens.weight,
            lengths.cumsum(0) - lengths,
            mode="sum",
            sparse=True,
            per_sample_weights=weights[is_token],
        )
        pooled = self.dropout(means)
        return pooled, pooled

    def _weights(self, mask: Tensor) -> Tensor:
        """1 at tokens that count (N, T)."""
        weights = mask.to(self.tokens.weight.dtype)
        if self.training and self.token_dropout:
            weights = weights * (torch.rand_like(weights) >= self.token_dropout)
        return weights


def _make_dense(weights: Tensor) -> None:
    """Make a sparse gradient a dense one, as the optimiser needs it."""
    if weights.grad is not None and weights.grad.is_sparse:
        weights.grad = weights.grad.to_dense()


def _trained_rows(data: TrainingData, rows: int) -> NDArray[np.bool_]:
    """(rows,) whether the trained languages have TRAINED_SHARE of the occurrences of a row's subword."""
    counts = {
        code: np.bincount(np.concatenate(sentences), minlength=rows)
        for code, sentences in data.sentences.items()
        if sentences
    }
    own = sum((counts[code] for code in data.trained if code in counts), np.zeros(rows, np.int64))
    out: NDArray[np.bool_] = own > TRAINED_SHARE * np.maximum(1, sum(counts.values()))
    return out


def _hold(held: Tensor, weights: Tensor) -> None:
    """Keep rows as they are: Adam moves none whose gradient is always 0."""
    if weights.grad is not None:
        weights.grad[held] = 0


class Bag(TokenMean):
    """One embedding a token for all languages; a run may go on from those of another."""

    taken_over: Tensor | None = None  # the embeddings of `settings.start`

    def __init__(self, settings: BagSettings, vocabulary: int) -> None:
        super().__init__(settings, vocabulary)
        self.settings = settings

    def initialise(self, data: TrainingData) -> None:
        """Take over the embeddings of `start`, and hold those that the trained languages hardly use."""
        if start := self.settings.goes_on_from():
            known, joined = self._started(start, data.tokenizer)
            self.taken_over = known.to(self.tokens.weight.device)
            with torch.no_grad():
                self.tokens.weight.copy_(torch.cat([known, joined]))
        if data.trained:
            held = torch.from_numpy(~_trained_rows(data, self.tokens.num_embeddings))
            self.tokens.weight.register_post_accumulate_grad_hook(partial(_hold, held))  # type: ignore[no-untyped-call]

    @torch.no_grad()
    def conclude(self) -> None:
        """Take the mean with the embeddings of `start`, and bound all, as the settings say."""
        weights = self.tokens.weight
        if self.taken_over is not None:
            weights[: len(self.taken_over)].lerp_(self.taken_over, self.settings.start_share)
        if self.settings.bound_norms:
            weights.copy_(weights.renorm(2, 0, weights.norm(dim=1).median().item()))

    def _started(self, start: Start, tokenizer: Tokenizer) -> tuple[Tensor, Tensor]:
        """The embeddings of a start (tokens, width), and those of the tokens that join them: their sums.

        UsageError if they are more than the vocabulary, or of another width.
        """
        embeddings, vocabulary = start.embeddings, self.tokens.num_embeddings
        known, width = embeddings.shape
        if known > vocabulary or width != self.width:
            raise UsageError(
                f"text.start {start.folder}: {known} embeddings of width {width}; "
                f"the recipe has {vocabulary} of width {self.width}"
            )
        parts = Tokenizer.from_file(str(start.tokenizer)).model
        joined = (parts.tokenize(tokenizer.id_to_token(number)) for number in range(known, vocabulary))
        sums = [embeddings[[token.id for token in tokens]].sum(axis=0) for tokens in joined]
        return torch.from_numpy(embeddings), torch.tensor(np.reshape(sums, (-1, width)), dtype=torch.float32)
