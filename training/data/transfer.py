"""Captions transferred to pictures from other languages: their file, and the sampler that draws them."""

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
TRANSFER_STREAM = 3  # keeps this draw apart from others of the same epoch

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class TransferredCaption:
    """A sentence in another language for the picture of caption number `caption`.

    similarity: the cosine of the two sentences, 1 for a translation.
    """

    caption: int
    language: str
    text: str
    similarity: float = 1.0


def write_transferred(
    file: Path, captions: CaptionedPictures, transferred: Sequence[TransferredCaption]
) -> None:
    """Write one tab-separated line per transferred caption; COLUMNS names the columns."""
    lines = []
    for new in transferred:
        old = captions.captions[new.caption]
        columns = (captions.pictures[old.picture], old.language, old.text, new.language, new.text)
        lines.append("\t".join((*columns, f"{new.similarity:.4f}")) + "\n")
    replace_text(file, "".join(lines))


def read_transferred(file: Path, captions: CaptionedPictures) -> list[TransferredCaption]:
    """Read what `write_transferred` wrote. DamagedError if it is missing or about other captions."""
    places = {(captions.pictures[c.picture], c.language, c.text): i for i, c in enumerate(captions.captions)}
    try:
        return [
            TransferredCaption(places[picture, language, old], new_language, text, float(cosine))
            for picture, language, old, new_language, text, cosine in read_table(file, COLUMNS)
        ]
    except (DataError, KeyError, ValueError):
        raise DamagedError(
            f"{file} is damaged or about other captions; train again into another folder"
        ) from None


def with_transferred(
    captions: CaptionedPictures, transferred: Sequence[TransferredCaption]
) -> CaptionedPictures:
    """Append the transferred captions to the pictures' own, in order."""
    new = (Caption(captions.captions[t.caption].picture, t.language, t.text) for t in transferred)
    return CaptionedPictures(captions.pictures, (*captions.captions, *new))


class TransferSampler:
    """Replaces each caption of another sampler's batches, with probability `share`, by a transferred one.

    One of the picture's transferred captions is drawn uniformly; a picture without any keeps its own.
    The first `original` captions of `data` are the pictures' own, the rest transferred.
    """

    def __init__(
        self, sampler: PictureSampler, data: CaptionedPictures, original: int, share: float, seed: int
    ) -> None:
        self.sampler, self.share, self.seed = sampler, share, seed
        self._picture = [caption.picture for caption in data.captions[:original]]
        self._transferred: dict[int, list[int]] = {}
        for number, caption in enumerate(data.captions[original:], original):
            self._transferred.setdefault(caption.picture, []).append(number)

    def batches(self, epoch: int) -> list[Numbers]:
        """The epoch's batches of caption numbers; they depend on the seed and the epoch alone."""
        draw = np.random.default_rng([self.seed, epoch, TRANSFER_STREAM])
        return [
            np.asarray([self._shown(int(caption), draw) for caption in batch], dtype=np.int64)
            for batch in self.sampler.batches(epoch)
        ]

    def _shown(self, caption: int, draw: np.random.Generator) -> int:
        options = self._transferred.get(self._picture[caption])
        if options is None or draw.random() >= self.share:
            return caption
        return options[int(draw.integers(len(options)))]
