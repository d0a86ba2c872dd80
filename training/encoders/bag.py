"""The bag-of-subwords text encoder: the mean of token embeddings, the fastest encoder."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from tokenizers import Tokenizer
from torch import Tensor, nn

from index.errors import UsageError
from training.data.tokens import with_plain_i
from training.data.training_data import TrainingData
from training.data.vocabulary_extension import grown_vocabulary
from training.encoders.base import EncoderSettings, SentenceEncoder, masked_mean
from training.encoders.language_identifier import LanguageIdentifier
from training.encoders.picture_verified import verified_rows
from training.encoders.stored import Start, open_start
from training.encoders.vision import VisionSettings


class BagSettings(EncoderSettings):
    """embeddings: "shared": a token has one for all languages; "per-language": one in each language;
    "picture-verified": one in each, shared between languages whose pictures agree on what the token means
    (training.encoders.picture_verified).
    start: an encoder bundle, or a finished run (looked for below the data folder first) of the same kind and
    width: the run goes on from its vocabulary, in place of one learned as [tokenizer] says, its embeddings,
    and its picture space if it has one, whatever the pictures; the backbone is the same. "stages": what the
    stage before ended with (`Recipe.stages`).
    start_share: the share of `start` in the embeddings that the run ends with, for the tokens that `start`
    has: a mean of both, so that what it knew better is not lost (Wortsman et al. 2022, Robust fine-tuning of
    zero-shot models).
    start_merges: tokens added to the vocabulary of `start` at most, each a merge of two (training.data.
    vocabulary_extension) whose embedding begins as their sum, so that sentences begin where `start` has them.
    false_discovery_rate: the expected share of wrongly shared tokens among the shared ones.
    """

    shares_embeddings: ClassVar[bool] = True
    folder_key: ClassVar[str] = "start"

    encoder: Literal["bag"]
    start: str = ""
    start_share: float = Field(default=0.0, ge=0, lt=1)
    start_merges: int = Field(default=0, ge=0, le=50_000)
    embeddings: Literal["shared", "per-language", "picture-verified"] = "shared"
    false_discovery_rate: float = Field(default=0.2, gt=0, lt=1)
    width: int = Field(default=256, ge=2)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    token_dropout: float = Field(default=0.1, ge=0, lt=1)
    initial_scale: float = Field(default=0.02, gt=0)

    def build(self, vocabulary: int, languages: int) -> "Bag":
        return Bag(self, vocabulary, languages)

    def own_tokenizer(self, texts: Iterable[str]) -> Tokenizer | None:
        """Load the tokenizer of `start`, with merges from `texts`; None without a start."""
        start = self.opened_start()
        if start is None:
            return None
        tokenizer = with_plain_i(Tokenizer.from_file(str(start.tokenizer)))
        return grown_vocabulary(tokenizer, texts, self.start_merges) if self.start_merges else tokenizer

    def opened_start(self) -> Start | None:
        return open_start(Path(self.start)) if self.start else None

    def requires(self, vision: VisionSettings) -> Iterator[str]:
        if self.embeddings == "picture-verified" and vision.space != "whitened":
            yield 'text.embeddings = "picture-verified" needs vision.space = "whitened"'
        if self.start and self.embeddings != "shared":
            yield 'text.start needs text.embeddings = "shared"'
        for key in ("start_share", "start_merges"):
            if getattr(self, key) and not self.start:
                yield f"text.{key} needs text.start"

    @property
    def averages_words(self) -> bool:
        return self.embeddings == "shared"


class Bag(SentenceEncoder):
    """Token ids and mask (N, T) -> token embeddings (N, T, width), pooled by their mean (N, width).

    In training, tokens are left out of the mean with probability `token_dropout`, so that no caption is
    recognised by one rare token alone. With embeddings that are not shared, the language is identified from
    the tokens, and `rows` (vocabulary, languages) is the row of a token's embedding in `tokens`.
    """

    rows: Tensor
    start: Tensor | None = None  # the embeddings of `settings.start`

    def __init__(self, settings: BagSettings, vocabulary: int, languages: int = 1) -> None:
        super().__init__(settings)
        self.settings = settings
        self.vocabulary = vocabulary
        self.identifier: LanguageIdentifier | None = None
        if settings.embeddings != "shared":
            self.identifier = LanguageIdentifier(vocabulary, languages)
            all_rows = torch.arange(vocabulary)[:, None] + vocabulary * torch.arange(languages)
            self.register_buffer("rows", all_rows)
        self.tokens = nn.Embedding(vocabulary * (languages if self.identifier else 1), settings.width)
        self.dropout = nn.Dropout(settings.dropout)
        nn.init.normal_(self.tokens.weight, std=settings.initial_scale)

    def initialise(self, data: TrainingData) -> None:
        """Take over the embeddings of `start`, fit the language identifier, share where pictures agree."""
        if start := self.settings.opened_start():
            known, joined = self._started(start, data.tokenizer)
            self.start = known.to(self.tokens.weight.device)
            with torch.no_grad():
                self.tokens.weight.copy_(torch.cat([known, joined]))
        if self.identifier:
            self.identifier.fit(data)
        if self.settings.embeddings == "picture-verified":
            self.rows.copy_(self._verified(data))

    @torch.no_grad()
    def conclude(self) -> None:
        """Take the mean with the embeddings of `start`, if the settings say so."""
        if self.start is not None:
            self.tokens.weight[: len(self.start)].lerp_(self.start, self.settings.start_share)

    def _started(self, start: Start, tokenizer: Tokenizer) -> tuple[Tensor, Tensor]:
        """The embeddings of a start (tokens, width), and those of the tokens that join them: their sums.

        UsageError if they are more than the vocabulary, or of another width.
        """
        embeddings = start.embeddings
        known, width = embeddings.shape
        if known > self.vocabulary or width != self.settings.width:
            raise UsageError(
                f"text.start {start.folder}: {known} embeddings of width {width}; "
                f"the recipe has {self.vocabulary} of width {self.settings.width}"
            )
        parts = Tokenizer.from_file(str(start.tokenizer)).model
        joined = (parts.tokenize(tokenizer.id_to_token(number)) for number in range(known, self.vocabulary))
        sums = [embeddings[[token.id for token in tokens]].sum(axis=0) for tokens in joined]
        return torch.from_numpy(embeddings), torch.tensor(np.reshape(sums, (-1, width)), dtype=torch.float32)

    def _verified(self, data: TrainingData) -> Tensor:
        """Compute `rows`, shared where pictures agree."""
        count = len(data.tokens)
        rows = verified_rows(
            data.tokens,
            data.language_places[:count],
            data.picture_places[:count],
            data.picture_space(),
            shape=(self.vocabulary, len(data.languages)),
            false_discovery_rate=self.settings.false_discovery_rate,
        )
        return torch.from_numpy(rows).to(self.rows.device)

    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Token embeddings (N, T, width), without context."""
        rows = self.rows[ids, self.identifier(ids, mask)[:, None]] if self.identifier else ids
        out: Tensor = self.tokens(rows)
        return out

    def pool(self, states: Tensor, mask: Tensor) -> Tensor:
        """Mean over the tokens (N, width)."""
        weights = mask.to(states.dtype)
        if self.training and self.settings.token_dropout:
            is_kept = torch.rand_like(weights) >= self.settings.token_dropout
            weights = weights * is_kept
        pooled: Tensor = self.dropout(masked_mean(states, weights))
        return pooled

    def word_table(self) -> Tensor:
        """The token embeddings: (vocabulary, width), or (languages, vocabulary, width) if not shared."""
        weight = self.tokens.weight
        return weight[self.rows.T] if self.identifier else weight
