"""Fixed views of a picture: crops and flips in a set order, for features that are computed once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image


@dataclass(frozen=True)
class View:
    """A crop (left, top, right, bottom as shares of the side), resized back, perhaps flipped."""

    left: float = 0.0
    top: float = 0.0
    right: float = 1.0
    bottom: float = 1.0
    flipped: bool = False

    def __call__(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """(S, S, 3) -> (S, S, 3)."""
        out = picture
        if (self.left, self.top, self.right, self.bottom) != (0, 0, 1, 1):
            side = len(picture)
            box = (side * self.left, side * self.top, side * self.right, side * self.bottom)
            image = Image.fromarray(picture).resize((side, side), Image.Resampling.BILINEAR, box=box)
            out = np.asarray(image)
        return np.ascontiguousarray(out[:, ::-1]) if self.flipped else out


# A recipe with `views = n` takes the first n.
VIEWS = (
    View(),
    View(flipped=True),
    View(0.0, 0.0, 0.8, 0.8),
    View(0.07, 0.07, 0.93, 0.93, flipped=True),
    View(0.2, 0.2, 1.0, 1.0),
    View(0.2, 0.0, 1.0, 0.8, flipped=True),
    View(0.0, 0.2, 0.8, 1.0, flipped=True),
    View(0.15, 0.15, 0.85, 0.85),
    View(0.0, 0.1, 0.9, 1.0),
    View(0.1, 0.0, 1.0, 0.9),
)
