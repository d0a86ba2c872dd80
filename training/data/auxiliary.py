"""Batches, and the auxiliary inputs that some objectives read beside captions and pictures."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from index.arrays import Numbers
from training.data.tokens import Padded
from training.data.training_data import TrainingData

Auxiliary = Tensor | tuple[Padded, ...]  # rows as they are, or sentences to be embedded


@dataclass(frozen=True)
class Batch:
    """N captions and their pictures.

    ids, mask: (N, T) int64. pictures: V tensors, one for each view: pixels (N, 3, S, S) if the backbone is
    tuned, features (N, F) if it is frozen. auxiliary: name -> an input that only some objectives read. spans:
    (rows, tokens) of successive groups that are embedded one by one, each cut to its longest caption; () is
    all at once. inactive: the objectives that this batch does not train (`ScheduleSettings`).
    """

    ids: Tensor
    mask: Tensor
    pictures: tuple[Tensor, ...]
    auxiliary: Mapping[str, Auxiliary] = field(default_factory=dict)
    spans: tuple[tuple[int, int], ...] = ()
    inactive: frozenset[str] = frozenset()

    def groups(self) -> Iterator[Padded]:
        """Ids and mask of each span."""
        start = 0
        for rows, tokens in self.spans or (tuple(self.ids.shape),):
            part = slice(start, start + rows), slice(0, tokens)
            yield self.ids[part], self.mask[part]
            start += rows


class Supplier(Protocol):
    """Supplies one auxiliary input of batches."""

    def begin(self, size: int, epoch: int, number: int) -> None:
        """Begin batch `number` of an epoch, of `size` captions."""
        return

    def part(
        self, captions: Numbers, rows: slice, draw: np.random.Generator, device: torch.device
    ) -> Auxiliary | None:
        """The input for rows `rows` of the batch, which are `captions`, by number; None if there is none."""


# Name that objectives read -> its supplier, if the run has any. Random draws and embeddings follow the order
# of the names.
SUPPLIERS: dict[str, Callable[[TrainingData], Supplier | None]] = {
    "mined": lambda data: data.pseudopairs,
}
