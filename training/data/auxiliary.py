"""Batches, and the auxiliary inputs that some objectives read beside captions and pictures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from index.errors import DataError
from training.data.captions import CaptionedPictures
from training.data.pairs import Halves
from training.data.tokens import Texts, pad
from training.data.training_data import TrainingData

Numbers = NDArray[np.int64]
Auxiliary = Tensor | tuple[Texts, ...]  # rows as they are, or sentences to be embedded


@dataclass(frozen=True)
class Batch:
    """N captions and their pictures.

    ids, mask: (N, T) int64. pictures: V tensors, a view each: pixels (N, 3, S, S) where the backbone is
    tuned, features (N, F) where it is frozen. auxiliary: name -> what only some objectives read. spans:
    (rows, tokens) of successive groups that the text encoder takes by themselves, cut to their longest; () is
    all at once. inactive: the objectives that this batch is not about (training.recipes.schedule). cached:
    name -> embeddings computed beforehand: of "text" those of more captions, behind the N; of anything else
    all that there are.
    """

    ids: Tensor
    mask: Tensor
    pictures: tuple[Tensor, ...]
    auxiliary: Mapping[str, Auxiliary] = field(default_factory=dict)
    spans: tuple[tuple[int, int], ...] = ()
    inactive: frozenset[str] = frozenset()
    cached: Mapping[str, tuple[Tensor, ...]] = field(default_factory=dict)

    def groups(self) -> Iterator[Texts]:
        """Ids and mask of each span."""
        start = 0
        for rows, tokens in self.spans or (tuple(self.ids.shape),):
            part = slice(start, start + rows), slice(0, tokens)
            yield self.ids[part], self.mask[part]
            start += rows


class Supplier(Protocol):
    """Gives batches one auxiliary input."""

    def begin(self, size: int, epoch: int, number: int) -> None:
        """A batch of `size` captions begins, number `number` of its epoch."""

    def part(
        self, captions: Numbers, rows: slice, draw: np.random.Generator, device: torch.device
    ) -> Auxiliary | None:
        """The input of rows `rows` of the batch, whose captions are given by number; None where there is
        none."""


class RowSupplier:
    """A row (D,) for each caption: `table[owners[i]]` for caption i."""

    def __init__(self, table: NDArray[np.int64] | NDArray[np.float32], owners: Numbers) -> None:
        self.table, self.owners = table, owners

    def begin(self, size: int, epoch: int, number: int) -> None:
        pass

    def part(self, captions: Numbers, rows: slice, draw: np.random.Generator, device: torch.device) -> Tensor:
        """(N, D)."""
        return torch.from_numpy(self.table[self.owners[captions]]).to(device)


class DrawnCaptions:
    """For each caption one of `choices[caption]`, other captions by number, drawn anew each time."""

    def __init__(self, choices: Sequence[Sequence[int]], tokens: Sequence[NDArray[np.int32]]) -> None:
        self.choices, self.tokens = choices, tokens

    def begin(self, size: int, epoch: int, number: int) -> None:
        pass

    def part(
        self, captions: Numbers, rows: slice, draw: np.random.Generator, device: torch.device
    ) -> tuple[Texts]:
        """Ids and mask (N, T) of the drawn captions."""
        options = (self.choices[caption] for caption in captions)
        drawn = [others[int(draw.integers(len(others)))] for others in options]
        return (pad([self.tokens[i] for i in drawn], device),)


def partners(data: TrainingData) -> DrawnCaptions:
    """Another caption of each picture, in another language. DataError if a picture has but one language."""
    captions = data.shown.captions
    of_picture = _captions_of_pictures(data.shown)
    choices = [
        [other for other in of_picture[caption.picture] if captions[other].language != caption.language]
        for caption in captions
    ]
    for caption, others in zip(captions, choices, strict=True):
        if not others:
            raise DataError(
                f"objectives.paired: {data.shown.pictures[caption.picture]} has captions in "
                f'{caption.language} alone; it needs data.pictures = "shared" and captions in two languages '
                "a picture"
            )
    return DrawnCaptions(choices, data.shown_tokens)


def neighbours(data: TrainingData) -> DrawnCaptions:
    """Another caption of each picture, in whatever language; the same one where a picture has no other."""
    of_picture = _captions_of_pictures(data.shown)
    choices = [
        [other for other in of_picture[caption.picture] if other != number] or [number]
        for number, caption in enumerate(data.shown.captions)
    ]
    return DrawnCaptions(choices, data.shown_tokens)


def languages(data: TrainingData) -> RowSupplier:
    """(N, 1), the place of each caption's language among the recipe's."""
    return RowSupplier(np.arange(len(data.languages))[:, None], data.language_places)


def whitened(data: TrainingData) -> RowSupplier:
    """(N, K) unit rows, each caption's picture in the fixed whitened space of the training pictures."""
    return RowSupplier(data.whitened_space(), data.picture_places)


# The names that objectives read. What is drawn or embedded for several of them is so in this order.
SUPPLIERS: dict[str, Callable[[TrainingData], Supplier]] = {
    "partners": partners,
    "neighbours": neighbours,
    "halves": lambda data: Halves(data.scenes(), data.seed),
    "mined": lambda data: data.pseudopairs,
    "languages": languages,
    "whitened": whitened,
}
WHOLE_DATA = frozenset({"halves", "mined", "whitened"})  # those that a window of a stream can't give


def _captions_of_pictures(data: CaptionedPictures) -> list[list[int]]:
    """Picture -> its captions."""
    captions: list[list[int]] = [[] for _ in data.pictures]
    for number, caption in enumerate(data.captions):
        captions[caption.picture].append(number)
    return captions
