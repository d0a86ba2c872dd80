"""Picture sets: folders of pictures with captions, and which languages a recipe shows their pictures with.

Reads the folders of docs/data.md that have `images.tar`, `splits.tsv` and `captions/`. A picture is known as
SET/NAME, so that sets may have files of the same name.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.suites.sets import read_captions, read_split
from index.arrays import Vectors
from training.data.dealing import DEALS, CaptionTexts, Owners
from training.data.pictures import PictureArchive
from training.data.settings import DataSettings


def set_of(picture: str) -> str:
    """The set of a picture SET/NAME."""
    return picture.split("/", 1)[0]


def open_set(data: Path, name: str, size: int) -> PictureArchive:
    """The archive of a set. DataError if there is none."""
    return PictureArchive(data / name / "images.tar", size, f"{name}/")


def read_members(data: Path, name: str, split: str) -> list[str]:
    """The pictures of a split of a set, SET/NAME, sorted. DataError if there are none."""
    return sorted(f"{name}/{image}" for image in read_split(data / name / "splits.tsv", split))


def load_set(data: Path, name: str, split: str, settings: DataSettings) -> tuple[Owners, CaptionTexts]:
    """Read the pictures of a split of a set, with the captions of the languages that it has.

    Raises DataError if files are missing or malformed.
    """
    texts = {
        code: _texts(file, name, settings)
        for code in settings.languages
        if (file := data / name / "captions" / f"{code}.tsv").is_file()
    }
    return DEALS[settings.pictures](read_members(data, name, split), texts, settings), texts


def _texts(file: Path, name: str, settings: DataSettings) -> dict[str, list[str]]:
    """Picture -> captions of one language, of the kinds that the recipe uses."""
    texts: dict[str, list[str]] = {}
    for caption in read_captions(file):
        if not settings.caption_kinds or caption.source in settings.caption_kinds:
            texts.setdefault(f"{name}/{caption.image}", []).append(caption.text)
    return texts


def move_onto_first_set(features: Vectors, names: Sequence[str], learned: int) -> None:
    """Shift each set's features in place to the mean of the first set, over the first `learned` pictures.

    features: (V, N, F). The offset between photographs and drawings says nothing about what they show.
    """
    sets = np.asarray([set_of(name) for name in names])
    first, *others = dict.fromkeys(sets[:learned].tolist()) or [""]
    fitted = features[:, :learned]
    for name in others:
        means = [fitted[:, sets[:learned] == kind].mean(axis=(0, 1)) for kind in (first, name)]
        features[:, sets == name] += means[0] - means[1]


def epoch_shares(pictures: Sequence[str], weights: Mapping[str, float]) -> NDArray[np.float64] | None:
    """How often an epoch shows each picture, by the weight of its set; None where all are shown once."""
    if not weights:
        return None
    return np.asarray([weights.get(set_of(name), 1.0) for name in pictures])
