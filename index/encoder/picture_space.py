"""The picture space of a bundle: maps the features of a vision backbone into the space of the bundle's texts.

With it, new pictures can be embedded (`passepartout learn-language --pictures`).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from index.arrays import Vectors, unit
from index.encoder.bundle import Bundle
from index.errors import DamagedError
from index.frozen import Frozen

DESCRIPTION_KEY = "seen"  # the key of the file's metadata


class Seen(Frozen):
    """How pictures were embedded.

    backbone: the vision backbone, listed as the only one. image_size: the side in pixels. views: the number
    of fixed views of each picture.
    """

    backbone: tuple[str]
    image_size: int = Field(ge=16, le=1024)
    views: int = Field(ge=1, le=10)


@dataclass(frozen=True)
class PictureSpace:
    """Maps the features (V, N, F) of V views to (N, d) unit rows, the mean over the views.

    The rows of a view are unit((features - mean) @ projection). probe: (F,) the features of a synthetic
    picture, by which the backbone can be recognised.
    """

    seen: Seen
    mean: NDArray[np.float32]
    projection: NDArray[np.float32]
    probe: NDArray[np.float32]

    @classmethod
    def open(cls, bundle: Bundle) -> "PictureSpace | None":
        """Read the picture space of a verified bundle; None if it has none. Raises DamagedError."""
        file = bundle.picture_space
        return read_picture_space(file, bundle.manifest.dimension) if file else None

    def __call__(self, features: NDArray[np.float32]) -> Vectors:
        return unit(self.of_views(features).mean(axis=0))

    def of_views(self, features: NDArray[np.float32]) -> Vectors:
        """Map features (..., F) to unit rows (..., d)."""
        return unit((features - self.mean) @ self.projection)

    def packed(self) -> bytes:
        """Serialise as picture_space.safetensors."""
        largest = np.abs(self.projection).max()  # the scale is irrelevant, and float16 ends at 65,504
        tensors = {
            "mean": self.mean,
            "projection": (self.projection / largest).astype(np.float16, order="C"),  # save reads no strides
            "probe": self.probe,
        }
        return save(tensors, {DESCRIPTION_KEY: self.seen.model_dump_json()})


def read_picture_space(file: Path, dimension: int) -> PictureSpace:
    """Read picture_space.safetensors; DamagedError if `packed` would not write it so."""
    try:
        with safe_open(file, "numpy") as content:
            seen = Seen.model_validate_json(content.metadata()[DESCRIPTION_KEY])
            mean, projection, probe = (
                content.get_tensor(name).astype(np.float32) for name in ("mean", "projection", "probe")
            )
    except (SafetensorError, TypeError, KeyError, ValidationError) as error:
        raise DamagedError(f"{file}: not a picture space: train and export again") from error
    if projection.shape != (len(mean), dimension) or probe.shape != mean.shape:
        raise DamagedError(
            f"{file}: shape {projection.shape}, not ({len(mean)}, {dimension}): train and export again"
        )
    return PictureSpace(seen, mean, projection, probe)
