"""Pictures as a tuned backbone sees them: augmented anew each time, as by SimCLR (Chen et al. 2020;
globetrotter 3.3), on the model's device, by kornia.
"""

import math
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from index.arrays import Numbers
from training.data.picture_source import Decoded, PixelScale

SMALLEST_CROP = 0.2  # share of the area; SimCLR's 0.08 leaves a caption little to agree with
COLOUR_JITTER = 0.4  # brightness, contrast, saturation; no hue: captions name colours
MAX_BLUR = 2.0 / 224  # the strongest, as a share of the side


class Augmentation:
    """Draws random views: cropped, flipped (p 0.5), colours jittered (0.8), grey (0.2), blurred (0.5).

    Each picture has its own draw. `side`: width and height of the pictures, in pixels.
    """

    def __init__(self, side: int) -> None:
        import kornia.augmentation as K  # which takes seconds to import

        strongest = MAX_BLUR * side
        width = 2 * math.ceil(3 * strongest) + 1
        self.steps = nn.Sequential(
            K.RandomResizedCrop((side, side), scale=(SMALLEST_CROP, 1.0), cropping_mode="resample"),
            K.RandomHorizontalFlip(p=0.5),
            K.ColorJitter(COLOUR_JITTER, COLOUR_JITTER, COLOUR_JITTER, p=0.8),
            K.RandomGrayscale(p=0.2),
            K.RandomGaussianBlur((width, width), (strongest / 20, strongest), p=0.5),
        )

    @torch.no_grad()
    def __call__(self, pictures: Tensor, seed: int) -> Tensor:
        """Draw a view of each picture, (N, 3, S, S) in [0, 1]; equal seeds give equal views.

        Torch's random state is left unchanged.
        """
        gpus = [pictures.device.index or 0] if pictures.device.type == "cuda" else []
        with torch.random.fork_rng(gpus):
            torch.manual_seed(seed)
            out: Tensor = self.steps(pictures)
        return out


class AugmentedPictures:
    """Supplies pixels on `device`: `count` random augmentations of each picture, or the plain picture.

    Expected pictures are decoded while the model trains on others.
    """

    def __init__(
        self,
        archive: Decoded,
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
