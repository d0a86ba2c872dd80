"""Draws a small data set in the layout of docs/data.md, for tests and `train --smoke`.

Each picture shows one scene (`grammar.Scene`): a ground with one to three like things, or two unlike ones
side by side or one above the other. All scenes of a data set differ, its test lines included.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from pathlib import Path
from random import Random
from typing import get_args

from PIL import Image, ImageDraw

from index.errors import DataError
from training.data.synthetic.grammar import (
    GRAMMARS,
    Colour,
    Ground,
    Pair,
    Relation,
    Scene,
    Shape,
    Size,
    Thing,
    describe,
)
from training.data.synthetic.pictograms import write_pictograms, write_tar
from training.data.synthetic.things import RGB, Point, draw_thing, shade

LANGUAGES = tuple(GRAMMARS)
CAPTIONS_PER_PICTURE = 4  # per picture and language
TEST_LINES = 200
TEXT_SET = "synthetic"  # name of the set of sentences without pictures


@dataclass(frozen=True)
class Texture:
    """A ground: its colour, and strokes in another (dx, dy as a share of the picture's side)."""

    base: RGB
    stroke: RGB
    dx: float
    dy: float
    strokes: int


TEXTURES: dict[Ground, Texture] = {
    "snow": Texture((212, 222, 236), (188, 200, 220), 0.02, 0.02, 60),
    "grass": Texture((96, 150, 70), (60, 115, 45), 0.0, 0.12, 90),
    "sand": Texture((222, 198, 150), (190, 160, 110), 0.01, 0.0, 120),
    "water": Texture((90, 170, 205), (150, 210, 230), 0.2, 0.0, 40),
    "night": Texture((46, 48, 104), (230, 230, 170), 0.0, 0.0, 40),
}
# Where things stand: by their number if alike, otherwise by the relation of the first to the second.
PLACES: dict[int | Relation, tuple[Point, ...]] = {
    1: ((0.5, 0.5),),
    2: ((0.28, 0.5), (0.72, 0.5)),
    3: ((0.27, 0.7), (0.73, 0.7), (0.5, 0.28)),
    "beside": ((0.28, 0.5), (0.72, 0.5)),
    "above": ((0.5, 0.26), (0.5, 0.74)),
    "below": ((0.5, 0.74), (0.5, 0.26)),
}


def draw_scenes(count: int, seed: int) -> list[Scene]:
    """Draw `count` different scenes, half of them with two kinds of things; deterministic in its arguments.

    Raises DataError if there are not that many.
    """
    alike = list(_alike())
    if count > 2 * len(alike):
        raise DataError(f"{count} scenes asked for, there are {2 * len(alike)}: ask for fewer pictures")
    rng = Random(f"scenes {seed}")
    chosen = rng.sample(alike, count - count // 2) + rng.sample(list(_pairs()), count // 2)
    rng.shuffle(chosen)
    return chosen


def _alike() -> Iterator[Scene]:
    sizes: tuple[Size, ...] = ("small", "big")
    kinds = product(get_args(Shape), get_args(Colour), sizes, (1, 2, 3))
    for ground, (shape, colour, size, count) in product(get_args(Ground), list(kinds)):
        yield Scene(ground, Thing(shape, colour, size, count))


def _pairs() -> Iterator[Scene]:
    pairs = product(combinations(get_args(Shape), 2), permutations(get_args(Colour), 2), get_args(Relation))
    for ground, (shapes, colours, relation) in product(get_args(Ground), list(pairs)):
        first, second = map(Thing, shapes, colours)
        yield Scene(ground, Pair(first, second, relation))


def draw(scene: Scene, size: int, rng: Random) -> Image.Image:
    """Draw the scene as an RGB picture of `size` x `size` pixels; shades and places vary with `rng`."""
    texture = TEXTURES[scene.ground]
    picture = Image.new("RGB", (size, size), shade(texture.base, rng))
    pen = ImageDraw.Draw(picture)
    for _ in range(texture.strokes):
        x, y = rng.random() * size, rng.random() * size
        pen.line((x, y, x + texture.dx * size, y + texture.dy * size), fill=shade(texture.stroke, rng))
    for thing, (x, y) in _placed(scene):
        centre = (x + rng.uniform(-0.03, 0.03), y + rng.uniform(-0.03, 0.03))
        draw_thing(pen, thing, centre, size, rng)
    return picture


def _placed(scene: Scene) -> list[tuple[Thing, Point]]:
    content = scene.content
    if isinstance(content, Thing):
        return [(content, place) for place in PLACES[content.count]]
    return list(zip((content.first, content.second), PLACES[content.relation], strict=True))


def captions(scene: Scene, language: str, rng: Random, count: int = CAPTIONS_PER_PICTURE) -> list[str]:
    """Write `count` different sentences for the scene; each language has more than CAPTIONS_PER_PICTURE."""
    sentences: dict[str, None] = {}
    while len(sentences) < count:
        sentences[describe(scene, language, rng)] = None
    return list(sentences)


def split_of(position: int) -> str:
    """The split of the picture at `position`: of every ten, eight train, one dev, one test."""
    return {8: "dev", 9: "test"}.get(position % 10, "train")


def write_synthetic(
    folder: Path, *, pictures: int = 600, size: int = 64, seed: int = 0, sets: Sequence[str] = ()
) -> None:
    """Write a data folder: `pictures` JPEGs of `size` x `size` pixels, captioned in each language.

    Also TEST_LINES aligned lines per language for scenes that no picture shows, a sentence without picture
    for each scene that is shown, pictograms, and the picture sets `sets` with a quarter as many pictures
    each. Equal arguments give equal bytes. Raises DataError if there are not that many different scenes.
    """
    fewer = max(10, pictures // 4)  # with a picture in each split
    scenes = draw_scenes(pictures + TEST_LINES + len(sets) * fewer, seed)
    photos, lines = scenes[:pictures], scenes[pictures : pictures + TEST_LINES]
    _write_set(folder / "photos", photos, size, seed)
    for number, name in enumerate(sets):
        start = pictures + TEST_LINES + number * fewer
        _write_set(folder / name, scenes[start : start + fewer], size, seed)
    for language in LANGUAGES:
        rng = Random(f"lines {seed} {language}")
        test = [describe(scene, language, rng) for scene in lines]
        _write_lines(folder / "benchmark" / "synthetic_test" / f"{language}.txt", test)
        rng = Random(f"texts {seed} {language}")
        texts = [describe(scene, language, rng) for scene in photos]
        _write_lines(folder / "text" / f"{TEXT_SET}.{language}.txt", texts)
    write_pictograms(folder / "pictograms", size, seed)


def _write_set(folder: Path, scenes: Sequence[Scene], size: int, seed: int) -> None:
    names = [f"synthetic_{i:05d}.jpg" for i in range(len(scenes))]
    _write_lines(folder / "splits.tsv", [f"{name}\t{split_of(i)}" for i, name in enumerate(names)])
    drawn = ((n, draw(s, size, Random(f"picture {seed} {n}"))) for n, s in zip(names, scenes, strict=True))
    write_tar(folder / "images.tar", drawn, "JPEG", quality=90)
    for language in LANGUAGES:
        rng = Random(f"captions {seed} {language}")
        rows = [(n, text) for n, s in zip(names, scenes, strict=True) for text in captions(s, language, rng)]
        lines = [f"{name}\t{text}\thuman" for name, text in rows]
        _write_lines(folder / "captions" / f"{language}.tsv", lines)


def _write_lines(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
