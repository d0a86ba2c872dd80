"""Pictures as a tuned backbone sees them: augmented anew each time."""

from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from index.encoder.vectors import Numbers
from training.data.picture_source import SOURCES, Pictures, PixelScale
from training.papers.shared.augmentation import Augmentation


class AugmentedPictures:
    """Supplies pixels on `device`: `count` random augmentations of each picture, or the plain picture.

    Expected pictures are decoded while the model trains on others.
    """

    def __init__(
        self,
        archive: Pictures,
        names: tuple[str, ...],
        scale: PixelScale,
        count: int,
        device: torch.device,
    ) -> None:
        self.archive, self.names, self.scale, self.count = archive, names, scale, count
        self.device = device
        self.augment = Augmentation(archive.size)
        self._pool = ThreadPoolExecutor(torch.get_num_threads(), thread_name_prefix="decode")
        self._expected: dict[int, Future[NDArray[np.uint8]]] = {}

    def expect(self, rows: Numbers) -> None:
        for row in rows.tolist():
            if row not in self._expected:
                self._expected[row] = self._pool.submit(self.archive.__getitem__, self.names[row])

    def views(self, rows: Numbers, draw: np.random.Generator) -> tuple[Tensor, ...]:
        pixels = self._pixels(rows)
        seeds = draw.integers(2**63, size=self.count)
        return tuple(scaled(self.scale, self.augment(pixels, int(seed))) for seed in seeds)

    def plain(self, rows: Numbers) -> Tensor:
        return scaled(self.scale, self._pixels(rows))

    def _pixels(self, rows: Numbers) -> Tensor:
        """(N, 3, S, S) in [0, 1]."""
        self.expect(rows)
        decoding = [self._expected.pop(row) for row in rows.tolist()]
        pixels = torch.from_numpy(np.stack([future.result() for future in decoding]))
        return pixels.to(self.device).permute(0, 3, 1, 2).float() / 255


def scaled(scale: PixelScale, pictures: Tensor) -> Tensor:
    """Scale (N, 3, S, S) in [0, 1], on its device."""
    mean, std = (pictures.new_tensor(values)[:, None, None] for values in (scale.mean, scale.std))
    return (pictures - mean) / std


SOURCES["tuned"] = AugmentedPictures
