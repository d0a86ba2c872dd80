"""Batches: of sentences for an encoder, of unit rows for the objectives' tests; data of token ids alone."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from hypothesis import strategies as st
from numpy.typing import NDArray
from tokenizers import Tokenizer, models
from torch import Tensor, nn

from training.data.captions import CaptionedPictures
from training.data.tokens import PAD_ID, pad
from training.data.training_data import TrainingData
from training.objectives.base import Step


@torch.no_grad()
def embed(encoder: nn.Module, tokens: Sequence[Sequence[int]], pads: int = 0) -> Tensor:
    """What an encoder gives for sentences in one batch, with so many more pads than it needs."""
    ids, mask = pad([np.asarray(row, np.int32) for row in tokens], torch.device("cpu"))
    more = torch.full((len(ids), pads), PAD_ID)
    out: Tensor = encoder(torch.cat([ids, more], dim=1), torch.cat([mask, torch.zeros_like(more)], dim=1))
    return out


def rows(n: int, width: int, seed: int) -> Tensor:
    """(n, width) unit rows in float64, so that a value computed by hand must agree closely."""
    generator = torch.Generator().manual_seed(seed)
    return F.normalize(torch.randn(n, width, generator=generator, dtype=torch.float64), dim=1)


def near(centre: Tensor, distance: float, seed: int) -> Tensor:
    """Unit rows at about `distance` from those of `centre`."""
    return F.normalize(centre + distance * rows(len(centre), centre.shape[1], seed), dim=1)


def step_of(text: Tensor, views: tuple[Tensor, ...] = (), **rows: Tensor | tuple[Tensor, ...]) -> Step:
    """What objectives read of captions and pictures; other rows by name."""
    named = {name: (given,) if isinstance(given, Tensor) else given for name, given in rows.items()}
    return Step({"text": (text,), "views": views, **named})


def batch(n: int = 6, width: int = 4, seed: int = 0, views: int = 2, spread: float = 0.5) -> Step:
    """Captions near their pictures, so that the margin lets some pairs through."""
    pictures = near(rows(1, width, seed).expand(n, width), 1.0, seed + 1)
    return step_of(
        near(pictures, spread, seed + 2),
        tuple(near(pictures, spread / 2, seed + 3 + view) for view in range(views)),
    )


batches = st.builds(
    batch,
    n=st.integers(2, 9),
    width=st.integers(2, 8),
    seed=st.integers(0, 10_000),
    views=st.integers(2, 3),
    spread=st.floats(0.01, 1.0),
)


def pairs_by_hand(one: Tensor, other: Tensor, temperature: float) -> float:
    """Globetrotter, eq. 1 with known pairs, and eq. 3: of two rows (n, d) each is a pair of row i.

    Each of the 2n against all others but itself, the mean over them.
    """
    every, n, total = [*one.tolist(), *other.tolist()], len(one), 0.0
    for i, own in enumerate(every):
        beta = [math.exp((1 + sum(map(float.__mul__, own, row))) / 2 / temperature) for row in every]
        total -= math.log(beta[(i + n) % (2 * n)] / (sum(beta) - beta[i]))
    return total / (2 * n)


def spoken(sentences: Sequence[Sequence[int] | NDArray[np.int32]], languages: Sequence[int]) -> TrainingData:
    """Sentences and the place of each one's language."""
    names = tuple(f"l{place}" for place in range(max(languages) + 1))
    by_language: dict[str, list[NDArray[np.int32]]] = {name: [] for name in names}
    for sentence, place in zip(sentences, languages, strict=True):
        by_language[names[place]].append(np.asarray(sentence, np.int32))
    empty: Any = CaptionedPictures((), ())
    return TrainingData(names, 0, Tokenizer(models.BPE()), empty, [], sentences=by_language)
