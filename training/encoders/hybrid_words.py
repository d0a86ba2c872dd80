"""What a hybrid embedding begins with: word vectors, the words that are kept, and where all others go."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from training.data.companions import CompanionSource
from training.data.context_vectors import principal
from training.data.first_words import first_words
from training.data.tokens import SPECIAL, UNKNOWN_ID
from training.encoders.hybrid import Hybrid, HybridSettings
from training.encoders.latent import Assignment, Sentences, pretrain

Rows = NDArray[np.int32]


def begin_hybrid(
    encoder: Hybrid,
    tokenizer: Tokenizer,
    data: Path,
    sentences: Mapping[str, Sequence[Rows]],
    languages: Sequence[str],
    captions: tuple[Sequence[Rows], CompanionSource],
    seed: int,
) -> None:
    """Give the encoder its words. `sentences` (language -> token ids) are what words are counted in and their
    vectors learned from; `captions`, token ids and whose they are, what the latent vocabulary learns from."""
    settings, size = encoder.settings, encoder.vocabulary
    spoken = {language: sentences.get(language, ()) for language in languages}
    width = settings.vectors_width
    vectors = first_words(settings.vectors, data, languages, tokenizer, spoken, width, seed)
    counts = np.stack([_counts(rows, size) for rows in spoken.values()], axis=1)
    assigned: Assignment | None = None
    if settings.kept is not None and (np.count_nonzero(counts[len(SPECIAL) :], axis=0) > settings.kept).any():
        tokens, source = captions
        known = Sentences(tokens, source.languages, source.pictures)
        latent, universal = settings.latent, settings.universal
        assigned = pretrain(vectors, known, latent, universal, settings.pretraining, seed)
    reduced = [_even(principal(rows, settings.kept_width)) for rows in vectors]
    encoder.take(*hybrid_tables(settings, reduced, counts, assigned))


def hybrid_tables(
    settings: HybridSettings,
    reduced: Sequence[NDArray[np.float32]],
    counts: NDArray[np.int64],
    assigned: Assignment | None,
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
    """What `Hybrid.take` begins with: a language's `kept` most frequent words in `own`, the others latent.

    reduced: (vocabulary, kept_width) a language. counts (vocabulary, languages), how often a word is seen.
    `assigned` says where the others go, None where none are left. Latent tokens that no word is assigned to
    are dropped. A word that a language never uses is <unk> there.
    """
    special = len(SPECIAL)
    rows = np.full(counts.shape, UNKNOWN_ID, np.int64)
    rows[:special] = np.arange(special)[:, None]
    own = [np.zeros((special, settings.kept_width), np.float32)]
    left = []
    for language in range(counts.shape[1]):
        kept, others = frequent(counts[:, language], settings.kept)
        rows[kept, language] = sum(map(len, own)) + np.arange(len(kept))
        own.append(reduced[language][kept])
        left.append(others)
    if assigned is None:
        return np.concatenate(own), np.zeros((1, settings.universal), np.float32), rows
    chosen = [assigned.tokens[language][others] for language, others in enumerate(left)]
    used = np.unique(np.concatenate(chosen))
    for language, (others, tokens) in enumerate(zip(left, chosen, strict=True)):
        rows[others, language] = sum(map(len, own)) + np.searchsorted(used, tokens)
    return np.concatenate(own), assigned.latent[used], rows


def frequent(counts: NDArray[np.int64], kept: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(vocabulary,) -> the `kept` most frequent words that are seen at all (None: all), and the others."""
    seen = np.flatnonzero(counts[len(SPECIAL) :]) + len(SPECIAL)
    order = seen[np.argsort(-counts[seen], kind="stable")]
    return (order, order[:0]) if kept is None else (order[:kept], order[kept:])


def _counts(rows: Sequence[Rows], size: int) -> NDArray[np.int64]:
    """How often each token is seen."""
    return np.bincount(np.concatenate([*rows, np.empty(0, np.int32)]), minlength=size).astype(np.int64)


def _even(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scaled so that the mean square of a row that is not zeros is 1: a linear layer's usual input."""
    norms = np.linalg.norm(rows, axis=1)
    some = norms[norms > 0]
    scale = np.sqrt(rows.shape[1] / np.mean(some**2)) if len(some) else 1.0
    return np.asarray(rows * scale / np.sqrt(rows.shape[1]), np.float32)
