"""SimCLR's augmentation of pictures (Chen et al. 2020; globetrotter 3.3): crop, flip, colour, blur."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageEnhance, ImageFilter

SMALLEST_CROP = 0.2  # share of the area; SimCLR's 0.08 leaves a caption little to agree with
COLOUR = 0.4
Enhance = Callable[[Image.Image], ImageEnhance._Enhance]
ENHANCERS: Sequence[Enhance] = (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color)


def augment(picture: NDArray[np.uint8], draw: np.random.Generator) -> NDArray[np.uint8]:
    """One random view of an (S, S, 3) picture: a crop resized back, flipped half the time, its colours
    distorted four times in five, grey one time in five, blurred half the time."""
    image = _crop(Image.fromarray(picture), draw)
    if draw.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    if draw.random() < 0.8:
        image = _distort_colours(image, draw)
    if draw.random() < 0.2:
        image = image.convert("L").convert("RGB")
    if draw.random() < 0.5:
        image = image.filter(ImageFilter.GaussianBlur(draw.uniform(0.1, 2.0) * len(picture) / 224))
    return np.asarray(image, dtype=np.uint8)


def _crop(image: Image.Image, draw: np.random.Generator) -> Image.Image:
    side = image.width
    area, ratio = draw.uniform(SMALLEST_CROP, 1.0), np.exp(draw.uniform(np.log(3 / 4), np.log(4 / 3)))
    width, height = min(1.0, (area * ratio) ** 0.5) * side, min(1.0, (area / ratio) ** 0.5) * side
    left, top = draw.uniform(0, side - width), draw.uniform(0, side - height)
    box = (left, top, left + width, top + height)
    return image.resize((side, side), Image.Resampling.BILINEAR, box=box)


def _distort_colours(image: Image.Image, draw: np.random.Generator) -> Image.Image:
    for number in draw.permutation(len(ENHANCERS)):
        image = ENHANCERS[number](image).enhance(draw.uniform(1 - COLOUR, 1 + COLOUR))
    return image
