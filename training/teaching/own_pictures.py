"""Embeds a user's own pictures with the backbone and in the picture space of a bundle's encoder."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from index.arrays import Vectors
from index.encoder.bundle import Bundle
from index.encoder.picture_space import PictureSpace
from index.encoder.pictures import Pictures
from index.errors import DataError, UsageError
from training.data.pictures import decode
from training.encoders.features import extract_features
from training.encoders.picture_space import is_seen_by
from training.encoders.vision import load_backbone


class PictureFolder:
    """The files of a folder and its folders, by their path in it; read and decoded on access.

    Raises DataError for a picture that can't be decoded.
    """

    def __init__(self, folder: Path, size: int) -> None:
        self.folder, self.size = folder, size
        self._files = {
            file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()
        }

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def __getitem__(self, name: str) -> NDArray[np.uint8]:
        try:
            return decode(self._files[name].read_bytes(), self.size)
        except (DataError, OSError) as error:
            raise DataError(f"{self.folder}: {name} {error}") from None


def with_own_pictures(
    bundle: Bundle, pictures: Pictures | None, folder: Path, named: Sequence[str], backbone: str = ""
) -> Pictures:
    """Add to the bundle's pictures those of a folder that are named, by their paths in it.

    Raises UsageError if the bundle has no picture space or the folder none of them, and what `own_pictures`
    raises.
    """
    space = PictureSpace.open(bundle)
    if space is None:
        raise UsageError(
            f"{bundle.folder} has no picture space; encoders have one if their recipe sets "
            'vision.space = "whitened" (passepartout bundle export)'
        )
    files = PictureFolder(folder, space.seen.image_size)
    names = tuple(name for name in named if name in files)
    if not names:
        raise UsageError(f"--pictures {folder}: it has none of the pictures in --captions")
    vectors = own_pictures(space, files, names, backbone)
    if pictures is None:
        return Pictures(names, vectors)
    return Pictures((*pictures.names, *names), np.concatenate([pictures.vectors, vectors]))


def own_pictures(
    space: PictureSpace, pictures: PictureFolder, names: Sequence[str], backbone: str = ""
) -> Vectors:
    """Embed pictures of a folder as vectors (n, d) in the space of the bundle's texts.

    backbone: a folder or Hugging Face name, instead of that in the bundle. Raises UsageError for a backbone
    that cannot be loaded or is not the same, DataError for a picture that cannot be decoded.
    """
    (seen,) = space.seen.backbone
    try:
        loaded = load_backbone(backbone or seen, Path())
    except DataError as error:
        raise UsageError(f"{error}: give its folder with --backbone") from error
    if not is_seen_by(space, loaded):
        raise UsageError(f"--backbone {backbone}: not the one that the bundle was trained with, {seen}")
    return space(extract_features(loaded, pictures, names, space.seen.views))
