"""Drawn things: a shape in a colour, in polygons and ellipses."""

import math
from dataclasses import dataclass
from random import Random
from typing import Literal

from PIL import ImageDraw

from training.data.synthetic.grammar import Colour, Shape, Size, Thing

RGB = tuple[int, int, int]
Point = tuple[float, float]


@dataclass(frozen=True)
class Part:
    """A piece of a thing in its unit square (x right, y down, -1 to 1), in the thing's colour
    or, if `edge`, in EDGE_COLOUR."""

    kind: Literal["polygon", "ellipse"]
    points: tuple[Point, ...]
    edge: bool = False


COLOURS: dict[Colour, RGB] = {
    "red": (205, 30, 35),
    "yellow": (250, 215, 25),
    "black": (20, 20, 20),
    "white": (255, 255, 255),
    "blue": (30, 60, 200),
    "green": (10, 200, 60),
}
EDGE_COLOUR: RGB = (60, 50, 45)
RADII: dict[Size, float] = {"small": 0.13, "medium": 0.2, "big": 0.25}


def _star() -> tuple[Point, ...]:
    turns = [(math.pi * i / 5, 1.0 if i % 2 == 0 else 0.42) for i in range(10)]
    return tuple((r * math.sin(t), -r * math.cos(t)) for t, r in turns)


def _petals() -> tuple[Part, ...]:
    centres = [(0.6 * math.sin(2 * math.pi * i / 5), -0.6 * math.cos(2 * math.pi * i / 5)) for i in range(5)]
    return tuple(Part("ellipse", ((x - 0.42, y - 0.42), (x + 0.42, y + 0.42))) for x, y in centres)


PARTS: dict[Shape, tuple[Part, ...]] = {
    "ball": (Part("ellipse", ((-0.95, -0.95), (0.95, 0.95))),),
    "house": (
        Part("polygon", ((-0.75, -0.1), (0.75, -0.1), (0.75, 1), (-0.75, 1))),
        Part("polygon", ((-1, -0.1), (0, -1), (1, -0.1))),
        Part("polygon", ((-0.2, 0.35), (0.2, 0.35), (0.2, 1), (-0.2, 1)), edge=True),
    ),
    "star": (Part("polygon", _star()),),
    "tree": (
        Part("polygon", ((-0.15, 0.4), (0.15, 0.4), (0.15, 1), (-0.15, 1)), edge=True),
        Part("polygon", ((-0.8, 0.5), (0, -1), (0.8, 0.5))),
    ),
    "boat": (
        Part("polygon", ((-1, 0.35), (1, 0.35), (0.6, 0.9), (-0.6, 0.9))),
        Part("polygon", ((-0.06, -1), (0.06, -1), (0.06, 0.35), (-0.06, 0.35)), edge=True),
        Part("polygon", ((0.12, -0.9), (0.8, 0.2), (0.12, 0.2))),
    ),
    "fish": (
        Part("polygon", ((0.4, 0), (1, -0.5), (1, 0.5))),
        Part("ellipse", ((-1, -0.5), (0.6, 0.5))),
        Part("ellipse", ((-0.75, -0.2), (-0.55, 0)), edge=True),
    ),
    "flower": (*_petals(), Part("ellipse", ((-0.3, -0.3), (0.3, 0.3)), edge=True)),
    "box": (
        Part("polygon", ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9))),
        Part("polygon", ((-0.9, -0.1), (0.9, -0.1), (0.9, 0.1), (-0.9, 0.1)), edge=True),
        Part("polygon", ((-0.1, -0.9), (0.1, -0.9), (0.1, 0.9), (-0.1, 0.9)), edge=True),
    ),
}


def draw_thing(pen: ImageDraw.ImageDraw, thing: Thing, centre: Point, size: int, rng: Random) -> None:
    """Draw a thing around `centre`, a share of the picture's side of `size` pixels; its shade varies."""
    radius, colour = RADII[thing.size] * rng.uniform(0.93, 1.07), shade(COLOURS[thing.colour], rng)
    for part in PARTS[thing.shape]:
        points = [((centre[0] + x * radius) * size, (centre[1] + y * radius) * size) for x, y in part.points]
        paint = pen.polygon if part.kind == "polygon" else pen.ellipse
        paint(points, fill=EDGE_COLOUR if part.edge else colour, outline=EDGE_COLOUR)


def shade(colour: RGB, rng: Random) -> RGB:
    """A random colour close to this one."""
    red, green, blue = (min(255, max(0, value + rng.randint(-12, 12))) for value in colour)
    return red, green, blue
