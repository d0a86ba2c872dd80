"""Draws the batches of an epoch: a picture at most once in each, with one of its captions."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from index.arrays import Numbers
from training.data.captions import CaptionedPictures


class PictureSampler:
    """Draws batches of caption numbers without a picture twice, so that no negative is a positive.

    An epoch shows each picture once, or as often as `shares` says, with a caption in a language drawn
    uniformly from those it has. `batches(epoch)` depends on the seed and the epoch alone, so that a resumed
    run draws what an unbroken one does. Batches differ in size by one at most, close to `batch_size`.
    languages: those whose captions are drawn, of which every picture must have one; all if None. shares: how
    often an epoch shows each picture on average, once if None; a fraction is a chance.
    """

    def __init__(
        self,
        data: CaptionedPictures,
        batch_size: int,
        seed: int,
        languages: Collection[str] | None = None,
        shares: NDArray[np.float64] | None = None,
    ) -> None:
        self.shares = shares
        self.batch_size = batch_size
        self.seed = seed
        self._choices = _by_picture(data, data.languages if languages is None else languages)

    def batches(self, epoch: int) -> list[Numbers]:
        """The epoch's batches of caption numbers."""
        draw = np.random.default_rng([self.seed, epoch])
        if self.shares is not None:
            return self._weighted(draw, self.shares)
        count = len(self._choices)
        batch_count = max(1, round(count / self.batch_size))
        order = draw.permutation(count)
        captions = np.asarray([self._draw(draw, picture) for picture in order], dtype=np.int64)
        return [captions[part] for part in np.array_split(np.arange(count), batch_count)]

    def _draw(self, draw: np.random.Generator, picture: int) -> int:
        choices = list(self._choices[picture].values())
        captions = choices[int(draw.integers(len(choices)))]
        return captions[int(draw.integers(len(captions)))]

    def _weighted(self, draw: np.random.Generator, shares: NDArray[np.float64]) -> list[Numbers]:
        batch_count = max(1, round(float(shares.sum()) / self.batch_size), int(np.ceil(shares.max())))
        order = draw.permutation(len(shares))
        edges = np.floor(np.cumsum(shares[order]) + draw.random())
        pictures = np.repeat(order, np.diff(edges, prepend=0).astype(np.int64))
        captions = np.asarray([self._draw(draw, picture) for picture in pictures.tolist()], dtype=np.int64)
        return deal(pictures, captions, batch_count, draw)


def deal(pictures: Numbers, captions: Numbers, hands: int, draw: np.random.Generator) -> list[Numbers]:
    """Deal captions into `hands` batches, the copies of a picture (`hands` at most) into different ones."""
    position = draw.permutation(int(pictures.max()) + 1)[pictures]
    shuffled = captions[np.argsort(position, kind="stable")]
    return [shuffled[int(hand) :: hands] for hand in draw.permutation(hands)]


def _by_picture(data: CaptionedPictures, languages: Collection[str]) -> Sequence[dict[str, list[int]]]:
    """Picture -> language -> caption numbers."""
    choices: list[dict[str, list[int]]] = [{} for _ in data.pictures]
    for number, caption in enumerate(data.captions):
        if caption.language in languages:
            choices[caption.picture].setdefault(caption.language, []).append(number)
    return choices
