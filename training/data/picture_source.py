"""Sources of a batch's pictures, and those whose features are computed beforehand."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from index.arrays import Numbers, Vectors

CENTRE_GREY = (0.5, 0.5, 0.5)


@dataclass(frozen=True)
class PixelScale:
    """Scales uint8 pixels to the backbone's input: (pixel / 255 - mean) / std, by channel."""

    mean: tuple[float, ...] = CENTRE_GREY
    std: tuple[float, ...] = CENTRE_GREY

    def __call__(self, pictures: NDArray[np.uint8]) -> Vectors:
        """(N, S, S, 3) uint8 -> (N, 3, S, S) float32."""
        mean, std = np.asarray(self.mean, np.float32), np.asarray(self.std, np.float32)
        scaled = (pictures.astype(np.float32) / 255 - mean) / std
        return np.ascontiguousarray(scaled.transpose(0, 3, 1, 2))


class Decoded(Protocol):
    """Decoded pictures (size, size, 3) by name."""

    @property
    def size(self) -> int: ...

    def __getitem__(self, name: str) -> NDArray[np.uint8]: ...


class PictureSource(Protocol):
    """Supplies the picture branch with pictures, by row."""

    def views(self, rows: Numbers, draw: np.random.Generator) -> tuple[Tensor, ...]:
        """The views of these pictures to train on, each (N, ...)."""

    def plain(self, rows: Numbers) -> Tensor:
        """The pictures unaugmented (N, ...), as validation embeds them."""

    def expect(self, rows: Numbers) -> None:
        """Announce the rows of the next batch, so that decoding can start."""


class FixedFeatures:
    """Supplies features (V, N, F): their mean over the views (`average`), or `count` random views of each."""

    def __init__(self, features: Vectors, *, count: int, average: bool) -> None:
        self.features = features
        self.mean = features.mean(axis=0)
        self.count, self.average = count, average

    def expect(self, rows: Numbers) -> None:
        pass  # nothing to decode

    def views(self, rows: Numbers, draw: np.random.Generator) -> tuple[Tensor, ...]:
        if self.average:
            return (self.plain(rows),)
        # Each picture has its own draw, without replacement.
        chosen_views = draw.permuted(np.tile(np.arange(len(self.features)), (len(rows), 1)), axis=1)
        return tuple(torch.from_numpy(self.features[chosen_views[:, i], rows]) for i in range(self.count))

    def plain(self, rows: Numbers) -> Tensor:
        return torch.from_numpy(self.mean[rows])
