"""SMALR's hybrid embedding (Burns et al. 2020, 3.1): own vectors for frequent words only.

The rest of a language's words are assigned to a small latent vocabulary that all languages share.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field, model_validator
from torch import Tensor, nn

from index.arrays import Numbers, Vectors
from training.data.tokens import SPECIAL_TOKENS, UNKNOWN_ID, TokenIds
from training.data.training_data import TrainingData
from training.encoders.base import EncoderSettings, SentenceEncoder, last_states, masked_mean
from training.papers.mule.word_vectors import initial_word_vectors, principal
from training.papers.shared.language_identifier import LanguageIdentifier
from training.papers.shared.suppliers import language_places
from training.papers.smalr.latent import Assignment, LatentSentences, PretrainingSettings, pretrain


class HybridSettings(EncoderSettings):
    """Settings of SMALR's encoder.

    kept: K, how many of its most frequent words a language keeps; if left out, all (the full vocabulary).
    kept_width: the width of these words' own vectors, which a layer per language maps to width `universal`.
    latent: how many latent tokens the other words may be assigned to (`pretraining`).
    vectors_width: the width of the word vectors that all begins with (training.papers.mule.word_vectors).
    recurrent: how a sentence is represented: by the last state of a "gru" or "lstm", or by the "mean" of its
    words.
    """

    tiny: ClassVar[tuple[str, ...]] = (
        "text.kept=20",
        "text.kept_width=8",
        "text.latent=30",
        "text.universal=32",
        "text.vectors_width=16",
        "text.width=32",
        "text.pretraining.steps=20",
    )

    encoder: Literal["hybrid"]
    kept: int | None = Field(default=None, ge=0)
    kept_width: int = Field(default=50, ge=1)
    latent: int = Field(default=40_000, ge=1)
    universal: int = Field(default=512, ge=2)
    vectors_width: int = Field(default=300, ge=2)
    recurrent: Literal["gru", "lstm", "mean"] = "gru"
    width: int = Field(default=512, ge=2)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    token_dropout: float = Field(default=0.0, ge=0, lt=1)
    pretraining: PretrainingSettings = PretrainingSettings()

    @model_validator(mode="after")
    def _widths_fit(self) -> "HybridSettings":
        if self.recurrent == "mean" and self.width != self.universal:
            raise ValueError('recurrent = "mean" needs width = universal')
        if self.kept_width > self.vectors_width:
            raise ValueError("kept_width: vectors_width or less")
        return self

    def build(self, vocabulary: int, languages: int) -> "Hybrid":
        return Hybrid(self, vocabulary, languages)


class Hybrid(SentenceEncoder):
    """Token ids and mask (N, T) -> universal embeddings (N, T, universal), read into (N, width).

    `rows` (vocabulary, languages) is the row of a token's vector: below `len(own)` in `own`, else in
    `latent`. Special tokens have one for all languages; a token that a language never uses is <unk> there.
    The language of a sentence is identified from its tokens.
    """

    rows: Tensor

    def __init__(self, settings: HybridSettings, vocabulary: int, languages: int) -> None:
        super().__init__(settings)
        self.settings = settings
        self.vocabulary = vocabulary
        self.identifier = LanguageIdentifier(vocabulary, languages)
        self.register_buffer("rows", torch.zeros(vocabulary, languages, dtype=torch.int64))
        self.own = nn.Parameter(torch.zeros(1, settings.kept_width))
        self.latent = nn.Parameter(torch.zeros(1, settings.universal))
        weight = torch.empty(languages, settings.universal, settings.kept_width)
        self.to_universal = nn.Parameter(nn.init.xavier_uniform_(weight[0]).repeat(languages, 1, 1))
        self.bias = nn.Parameter(torch.zeros(languages, settings.universal))
        self.dropout = nn.Dropout(settings.dropout)
        self.reader: nn.GRU | nn.LSTM | None = None
        if settings.recurrent != "mean":
            kind = nn.GRU if settings.recurrent == "gru" else nn.LSTM
            self.reader = kind(settings.universal, settings.width, batch_first=True)

    @property
    def inner_width(self) -> int:
        return self.settings.universal

    def initialise(self, data: TrainingData) -> None:
        """Fit the language identifier; set the word vectors and their rows."""
        self.identifier.fit(data)
        self.set_words(*hybrid_words(self.settings, data, self.vocabulary))

    def set_words(self, own_vectors: Vectors, latent_vectors: Vectors, rows: Numbers) -> None:
        """Set own (R, kept_width) and latent (V, universal) vectors, and rows (vocabulary, languages)."""
        device = self.rows.device
        self.own = nn.Parameter(torch.from_numpy(own_vectors).to(device))
        self.latent = nn.Parameter(torch.from_numpy(latent_vectors).to(device))
        self.rows.copy_(torch.from_numpy(rows))

    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The universal embeddings (N, T, universal)."""
        language = self.identifier(ids, mask)
        out: Tensor = self.dropout(self._universal(self.rows[ids, language[:, None]], language))
        return out

    def _universal(self, rows: Tensor, language: Tensor) -> Tensor:
        """Map rows (N, T) and languages (N,) to universal embeddings (N, T, universal)."""
        own_count = len(self.own)
        own_words = F.embedding(rows.clamp(max=own_count - 1), self.own) @ self.to_universal[language].mT
        own_words = own_words + self.bias[language][:, None]
        latent_words = F.embedding((rows - own_count).clamp(min=0), self.latent)
        return torch.where((rows < own_count)[..., None], own_words, latent_words)

    def inner(self, states: Tensor, mask: Tensor) -> Tensor:
        """The mean over the tokens of the mask (N, universal)."""
        weights = mask.to(states.dtype)
        if self.training and self.settings.token_dropout:
            weights = weights * (torch.rand_like(weights) >= self.settings.token_dropout)
        return masked_mean(states, weights)

    def pool(self, states: Tensor, mask: Tensor) -> Tensor:
        """One vector a sentence (N, width)."""
        if self.reader is None:
            return self.inner(states, mask)
        return last_states(self.reader(states)[0], mask)

    def _load_from_state_dict(self, state: Mapping[str, Any], prefix: str, *arguments: Any) -> None:  # noqa: ANN401
        """Resize `own` and `latent` to the checkpoint: their number of vectors depends on the data."""
        for name in ("own", "latent"):
            saved, parameter = state.get(prefix + name), getattr(self, name)
            if saved is not None and saved.shape[1:] == parameter.shape[1:] and len(saved) != len(parameter):
                setattr(self, name, nn.Parameter(parameter.new_zeros(saved.shape)))
        super()._load_from_state_dict(state, prefix, *arguments)


def hybrid_words(
    settings: HybridSettings, data: TrainingData, vocabulary: int
) -> tuple[Vectors, Vectors, Numbers]:
    """Compute the vectors of frequent words, the latent vectors, and the rows of each language's words.

    Words are counted in all sentences, from which their vectors are learned; the latent vocabulary is learned
    from captions.
    """
    vectors = initial_word_vectors(data, settings.vectors_width)
    sentences = [data.sentences.get(language, ()) for language in data.languages]
    counts = np.stack([_counts(rows, vocabulary) for rows in sentences], axis=1)
    assigned: Assignment | None = None
    if (
        settings.kept is not None
        and (np.count_nonzero(counts[len(SPECIAL_TOKENS) :], axis=0) > settings.kept).any()
    ):
        captions = LatentSentences(data.tokens, language_places(data), data.picture_places)
        assigned = pretrain(
            vectors, captions, settings.latent, settings.universal, settings.pretraining, data.seed
        )
    reduced = [_even(principal(rows, settings.kept_width)) for rows in vectors]
    return hybrid_tables(settings, reduced, counts, assigned)


def hybrid_tables(
    settings: HybridSettings,
    reduced: Sequence[Vectors],
    counts: Numbers,
    assigned: Assignment | None,
) -> tuple[Vectors, Vectors, Numbers]:
    """Build the arguments of `Hybrid.set_words`.

    reduced: (vocabulary, kept_width) vectors for each language. counts: (vocabulary, languages) occurrences.
    assigned: the latent tokens of rare words, None if there are none. A language's `settings.kept` most
    frequent words get own vectors, its others latent ones. Latent tokens without words are dropped. A word
    that a language never uses is <unk> there.
    """
    special = len(SPECIAL_TOKENS)
    rows = np.full(counts.shape, UNKNOWN_ID, np.int64)
    rows[:special] = np.arange(special)[:, None]
    own_vectors = [np.zeros((special, settings.kept_width), np.float32)]
    rare_words = []
    for language in range(counts.shape[1]):
        frequent_words, words = frequent(counts[:, language], settings.kept)
        rows[frequent_words, language] = sum(map(len, own_vectors)) + np.arange(len(frequent_words))
        own_vectors.append(reduced[language][frequent_words])
        rare_words.append(words)
    if assigned is None:
        return np.concatenate(own_vectors), np.zeros((1, settings.universal), np.float32), rows
    latent_tokens = [assigned.tokens[language][words] for language, words in enumerate(rare_words)]
    used = np.unique(np.concatenate(latent_tokens))
    for language, (words, tokens) in enumerate(zip(rare_words, latent_tokens, strict=True)):
        rows[words, language] = sum(map(len, own_vectors)) + np.searchsorted(used, tokens)
    return np.concatenate(own_vectors), assigned.latent[used], rows


def frequent(counts: Numbers, kept: int | None) -> tuple[Numbers, Numbers]:
    """Split the words that occur into the `kept` most frequent (None: all) and the rest."""
    words = np.flatnonzero(counts[len(SPECIAL_TOKENS) :]) + len(SPECIAL_TOKENS)
    order = words[np.argsort(-counts[words], kind="stable")]
    return (order, order[:0]) if kept is None else (order[:kept], order[kept:])


def _counts(rows: Sequence[TokenIds], size: int) -> Numbers:
    """Occurrences of each token."""
    return np.bincount(np.concatenate([*rows, np.empty(0, np.int32)]), minlength=size).astype(np.int64)


def _even(rows: Vectors) -> Vectors:
    """Scale rows so that the mean square norm of non-zero rows is 1."""
    norms = np.linalg.norm(rows, axis=1)
    nonzero = norms[norms > 0]
    scale = np.sqrt(rows.shape[1] / np.mean(nonzero**2)) if len(nonzero) else 1.0
    return np.asarray(rows * scale / np.sqrt(rows.shape[1]), np.float32)
