"""Which captions make a batch: each picture once an epoch, with one caption drawn for it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from training.data.captions import CaptionedPictures


class PictureSampler:
    """Batches of caption numbers in which no picture comes twice, so that no negative is a positive.

    An epoch shows each picture once: a language is drawn from those it has captions in, all alike, then one
    of its captions. `batches(epoch)` depends on the seed and the epoch alone, so a resumed run sees what an
    unbroken one sees. The batches are of equal size (give or take one), as near to `batch_size` as that goes.
    """

    def __init__(self, data: CaptionedPictures, batch_size: int, seed: int) -> None:
        self.batch_size = batch_size
        self.seed = seed
        self._choices = _by_picture(data)

    def batches(self, epoch: int) -> list[NDArray[np.int64]]:
        """The epoch's batches of caption numbers."""
        draw = np.random.default_rng([self.seed, epoch])
        order = draw.permutation(len(self._choices))
        captions = np.asarray([self._draw(draw, picture) for picture in order], dtype=np.int64)
        whole = max(1, round(len(order) / self.batch_size))
        return [captions[part] for part in np.array_split(np.arange(len(order)), whole)]

    def _draw(self, draw: np.random.Generator, picture: int) -> int:
        languages = self._choices[picture]
        captions = languages[int(draw.integers(len(languages)))]
        return captions[int(draw.integers(len(captions)))]


def _by_picture(data: CaptionedPictures) -> Sequence[Sequence[Sequence[int]]]:
    """Picture -> language -> caption numbers."""
    found: list[dict[str, list[int]]] = [{} for _ in data.pictures]
    for number, caption in enumerate(data.captions):
        found[caption.picture].setdefault(caption.language, []).append(number)
    return [list(languages.values()) for languages in found]
