"""Where a batch's pictures come from: fresh augmentations, or fixed features."""

from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from training.data.augmentation import augment
from training.data.pictures import PictureArchive
from training.data.whitening import Whitening
from training.encoders.vision import PixelScale

Rows = NDArray[np.int64]


class PictureSource(Protocol):
    """Gives the picture branch its input for pictures named by their row."""

    def views(self, rows: Rows, draw: np.random.Generator) -> tuple[Tensor, ...]:
        """The views of these pictures to train on, each (N, ...)."""

    def plain(self, rows: Rows) -> Tensor:
        """The pictures as they are measured, without any chance."""


class AugmentedPictures:
    """Pixels: `count` random augmentations of each picture; plain pictures are whole."""

    def __init__(
        self, archive: PictureArchive, names: tuple[str, ...], scale: PixelScale, count: int
    ) -> None:
        self.archive, self.names, self.scale, self.count = archive, names, scale, count

    def views(self, rows: Rows, draw: np.random.Generator) -> tuple[Tensor, ...]:
        decoded = [self.archive[self.names[row]] for row in rows]
        return tuple(
            torch.from_numpy(self.scale(np.stack([augment(picture, draw) for picture in decoded])))
            for _ in range(self.count)
        )

    def plain(self, rows: Rows) -> Tensor:
        return torch.from_numpy(self.scale(np.stack([self.archive[self.names[row]] for row in rows])))


class FixedFeatures:
    """Features (V, N, F) computed beforehand: their mean over the views, or `count` views drawn a picture.

    `whitening` maps each view into the fixed space first; a mean is then a mean of unit vectors.
    """

    def __init__(
        self, features: NDArray[np.float32], *, count: int, average: bool, whitening: Whitening | None = None
    ) -> None:
        self.features = whitening(features) if whitening else features
        self.mean = self.features.mean(axis=0)
        self.count, self.average = count, average

    def views(self, rows: Rows, draw: np.random.Generator) -> tuple[Tensor, ...]:
        if self.average:
            return (self.plain(rows),)
        # Different views of a picture, each picture's drawn for itself.
        drawn = draw.permuted(np.tile(np.arange(len(self.features)), (len(rows), 1)), axis=1)
        return tuple(torch.from_numpy(self.features[drawn[:, i], rows]) for i in range(self.count))

    def plain(self, rows: Rows) -> Tensor:
        return torch.from_numpy(self.mean[rows])
