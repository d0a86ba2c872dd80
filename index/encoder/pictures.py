"""Pictures: the openly licensed pictures of a bundle, as vectors in the space of its texts.

A picture is named SET/NAME, such as `pictograms/1f415` (its code points) or `storybooks/0001-01.jpg` (its
file).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from index.encoder.bundle import Bundle
from index.encoder.vectors import Vectors, unit
from index.errors import DamagedError

PICTOGRAM_SET = "pictograms"  # the set whose pictures are shown as emoji
MAX_COMPONENT = 127  # of a vector's components in 8 bits


@dataclass(frozen=True)
class Pictures:
    """Pictures named SET/NAME; row i of `vectors` (n, d) is the picture of name i."""

    names: tuple[str, ...]
    vectors: Vectors

    @classmethod
    def open(cls, bundle: Bundle) -> "Pictures | None":
        """Read the pictures of a verified bundle; None if it has none. Raises DamagedError."""
        return read_pictures(bundle.pictures, bundle.manifest.dimension) if bundle.pictures else None

    def of_set(self, name: str) -> "Pictures":
        """The pictures of one set, without its name in theirs."""
        rows = [row for row, full_name in enumerate(self.names) if full_name.startswith(f"{name}/")]
        return Pictures(tuple(self.names[row].removeprefix(f"{name}/") for row in rows), self.vectors[rows])


def packed(names: Sequence[str], vectors: Vectors) -> bytes:
    """Serialise pictures as pictures.safetensors: `vectors` (n, d) in 8 bits, `names` as lines of UTF-8.

    Each row has a scale of its own, which is not kept: what is read has unit length.
    """
    lines = np.frombuffer("\n".join(names).encode(), np.uint8)
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = np.rint(vectors * (MAX_COMPONENT / np.where(largest > 0, largest, 1)))
    return save({"vectors": np.ascontiguousarray(scaled.astype(np.int8)), "names": lines})


def read_pictures(file: Path, dimension: int) -> Pictures:
    """Read pictures.safetensors; DamagedError if its shape is not (names, dimension).

    Older bundles have pictograms only, without the name of their set.
    """
    try:
        tensors = load_file(file)
        vectors = tensors["vectors"].astype(np.float32)
        prefix = "" if "names" in tensors else f"{PICTOGRAM_SET}/"
        lines = bytes(tensors["codes" if prefix else "names"]).decode()
    except (SafetensorError, KeyError, ValueError) as error:
        raise DamagedError(f"{file}: no pictures: make it again (passepartout pictograms)") from error
    names = tuple(prefix + line for line in lines.split("\n"))
    if vectors.shape != (len(names), dimension) or not np.isfinite(vectors).all():
        raise DamagedError(
            f"{file}: shape {vectors.shape}, not ({len(names)}, {dimension}): make it again "
            "(passepartout pictograms)"
        )
    return Pictures(names, unit(vectors))
