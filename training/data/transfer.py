"""Captions that pictures were given in other languages: how they are kept, and how they come into batches."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.suites.sets import read_table
from index.errors import DamagedError, DataError
from index.storage.files import replace_text
from training.data.captions import Caption, CaptionedPictures
from training.data.sampler import PictureSampler

COLUMNS = ("picture", "language", "its caption", "language", "the caption it was given", "cosine")
GIVEN = 3  # tells this draw from others of the same epoch

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Given:
    """What stands beside caption number `caption`: a sentence of another language, and how alike the two
    were found (1 for a translation)."""

    caption: int
    language: str
    text: str
    similarity: float = 1.0


def write_given(file: Path, captions: CaptionedPictures, given: Sequence[Given]) -> None:
    """A line each, as COLUMNS says, for people to read and for a run that goes on."""
    lines = []
    for one in given:
        own = captions.captions[one.caption]
        columns = (captions.pictures[own.picture], own.language, own.text, one.language, one.text)
        lines.append("\t".join((*columns, f"{one.similarity:.4f}")) + "\n")
    replace_text(file, "".join(lines))


def read_given(file: Path, captions: CaptionedPictures) -> list[Given]:
    """What `write_given` wrote for these captions. DamagedError if it is missing or about others."""
    places = {(captions.pictures[c.picture], c.language, c.text): i for i, c in enumerate(captions.captions)}
    try:
        return [
            Given(places[picture, language, own], other, text, float(cosine))
            for picture, language, own, other, text, cosine in read_table(file, COLUMNS)
        ]
    except (DataError, KeyError, ValueError):
        raise DamagedError(
            f"{file} is damaged or about other captions; train again into another folder"
        ) from None


def with_given(captions: CaptionedPictures, given: Sequence[Given]) -> CaptionedPictures:
    """The captions, and behind them, in their order, those that were given."""
    more = (Caption(captions.captions[one.caption].picture, one.language, one.text) for one in given)
    return CaptionedPictures(captions.pictures, (*captions.captions, *more))


class GivenSampler:
    """The batches of another sampler in which a caption is, with probability `share`, replaced by one that
    its picture was given, all of these alike; a picture that was given none keeps its own.

    `own` is the number of captions that were not given, those that come first in `data`.
    """

    def __init__(
        self, sampler: PictureSampler, data: CaptionedPictures, own: int, share: float, seed: int
    ) -> None:
        self.sampler, self.share, self.seed = sampler, share, seed
        self._picture = [caption.picture for caption in data.captions[:own]]
        self._given: dict[int, list[int]] = {}
        for number, caption in enumerate(data.captions[own:], own):
            self._given.setdefault(caption.picture, []).append(number)

    def batches(self, epoch: int) -> list[Numbers]:
        """The epoch's batches of caption numbers; they depend on the seed and the epoch alone."""
        draw = np.random.default_rng([self.seed, epoch, GIVEN])
        return [
            np.asarray([self._shown(int(caption), draw) for caption in batch], dtype=np.int64)
            for batch in self.sampler.batches(epoch)
        ]

    def _shown(self, caption: int, draw: np.random.Generator) -> int:
        given = self._given.get(self._picture[caption])
        if given is None or draw.random() >= self.share:
            return caption
        return given[int(draw.integers(len(given)))]
