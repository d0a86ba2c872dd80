"""Reads pictures from tar archives, by name, as arrays."""

import hashlib
import io
import json
import tarfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from index.errors import DataError

# What Pillow raises for damaged or hostile files.
BAD_PICTURE = (
    OSError,
    SyntaxError,
    ValueError,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
)


class PictureArchive:
    """Random access to a tar of pictures: `archive[name]` is an (H, W, 3) uint8 array of side `size`.

    The offsets are read once, each picture on access. `prefix` is prepended to every name of the archive.
    Raises DataError for a missing archive or name and for a picture that can't be decoded.
    """

    def __init__(self, file: Path, size: int, prefix: str = "") -> None:
        if not file.is_file():
            raise DataError(f"{file} is missing; docs/data.md describes the data folder")
        self.file, self.size, self.prefix = file, size, prefix
        try:
            with tarfile.open(file, "r:") as tar:
                self._places = {
                    prefix + PurePosixPath(member.name).name: (member.offset_data, member.size)
                    for member in tar
                    if member.isfile()
                }
        except tarfile.TarError as error:
            raise DataError(f"{file} is not a readable tar: {error}") from None

    @property
    def names(self) -> tuple[str, ...]:
        """All pictures of the archive."""
        return tuple(self._places)

    def require(self, names: Sequence[str]) -> None:
        """DataError unless every name is in the archive."""
        missing = [name for name in names if name not in self._places]
        if missing:
            raise DataError(f"{self.file} lacks {len(missing)} of {len(names)} pictures, {missing[0]} first")

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all names, offsets and lengths."""
        return hashlib.sha256(json.dumps(sorted(self._places.items())).encode()).hexdigest()

    def __getitem__(self, name: str) -> NDArray[np.uint8]:
        self.require([name])
        offset, length = self._places[name]
        with self.file.open("rb") as archive:
            archive.seek(offset)
            raw = archive.read(length)
        try:
            return decode(raw, self.size)
        except DataError as error:
            raise DataError(f"{self.file}: {name} {error}") from None


class PictureCollection:
    """Several archives as one, each with a prefix of its own."""

    def __init__(self, archives: Sequence[PictureArchive]) -> None:
        self.size = archives[0].size
        self._archives = {archive.prefix: archive for archive in archives}

    def __getitem__(self, name: str) -> NDArray[np.uint8]:
        return self._holder(name)[name]

    def require(self, names: Sequence[str]) -> None:
        """DataError unless every name is in its archive."""
        for archive, rows in self.divided(names):
            archive.require([names[row] for row in rows])

    def divided(self, names: Sequence[str]) -> Iterator[tuple[PictureArchive, list[int]]]:
        """Divide names among the archives: each archive and the positions of its names."""
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(names):
            rows.setdefault(self._holder(name).prefix, []).append(row)
        for prefix, archive_rows in rows.items():
            yield self._archives[prefix], archive_rows

    def _holder(self, name: str) -> PictureArchive:
        archive = self._archives.get(name[: name.rfind("/") + 1])
        if archive is None:
            raise DataError(f"{name} is in none of the recipe's sets")
        return archive


def decode(raw: bytes, size: int) -> NDArray[np.uint8]:
    """Decode a picture to a (size, size, 3) uint8 array; transparency becomes white.

    Raises DataError for bytes that are not a complete picture, and above Pillow's limit of pixels.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(raw)) as picture:
                square = _on_white(picture).resize((size, size), Image.Resampling.BILINEAR)
    except BAD_PICTURE as error:
        raise DataError(f"can't be decoded: {error}") from None
    return np.asarray(square, dtype=np.uint8)


def _on_white(picture: Image.Image) -> Image.Image:
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    white = Image.new("RGBA", picture.size, "white")
    return Image.alpha_composite(white, picture.convert("RGBA")).convert("RGB")
