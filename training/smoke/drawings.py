"""Draws a small data set in the layout of docs/data.md, for tests and `train --smoke`.

Each picture shows one scene: a ground with one to three like things, or two unlike ones side by side or one
above the other. All scenes of a data set differ, its test lines included. Sentences name everything in which
scenes differ; phrasing and synonyms are drawn at random, and the languages share no template
(drawings.toml).
"""

import io
import tarfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from pathlib import Path
from random import Random
from typing import Any

from PIL import Image, ImageDraw

from index.errors import DataError

RGB = tuple[int, int, int]
Point = tuple[float, float]

WORDS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
LANGUAGES = tuple(WORDS)
CAPTIONS_PER_PICTURE = 4  # per picture and language
TEST_LINES = 200
TEXT_SET = "synthetic"  # name of the set of sentences without pictures

_DRAWN = tomllib.loads(Path(__file__).with_name("shapes.toml").read_text("utf-8"))
COLOURS: Mapping[str, RGB] = {name: (r, g, b) for name, (r, g, b) in _DRAWN["colours"].items()}
GROUNDS = {name: (tuple(ground), tuple(strokes)) for name, (ground, strokes) in _DRAWN["grounds"].items()}
SHAPES: Mapping[str, Sequence[Point]] = {
    name: [(x, y) for x, y in corners] for name, corners in _DRAWN["shapes"].items()
}
# Where things stand: by their number if alike, otherwise by the relation of the first to the second.
PLACES: dict[int | str, tuple[Point, ...]] = {
    1: ((0.5, 0.5),),
    2: ((0.28, 0.5), (0.72, 0.5)),
    3: ((0.27, 0.7), (0.73, 0.7), (0.5, 0.28)),
    "beside": ((0.28, 0.5), (0.72, 0.5)),
    "above": ((0.5, 0.26), (0.5, 0.74)),
    "below": ((0.5, 0.74), (0.5, 0.26)),
}
TURNED = {"beside": "beside", "above": "below", "below": "above"}
RADIUS = 0.22  # of a thing, as a share of the picture's side

# Artist -> the colour of the disc behind a pictogram; the rest is transparent.
ARTISTS: Mapping[str, RGB | None] = {"brush": None, "pencil": None, "stamp": (225, 225, 225)}
FIRST_CODE = 0xF0000  # Unicode's private use plane
KEYWORDS_PER_CONCEPT = 3  # drawn per concept; equal ones are written once
DRAWN_OF_EIGHT = 7  # the last artist draws so many of every 8 concepts


@dataclass(frozen=True)
class Thing:
    """One kind of object: 1 to 3 of them, all alike."""

    shape: str
    colour: str
    count: int = 1


@dataclass(frozen=True)
class Scene:
    """What a picture shows, and all that it shows: one kind of thing, or two and the first's relation."""

    ground: str
    things: tuple[Thing, ...]
    relation: str = ""


def draw_scenes(count: int, seed: int) -> list[Scene]:
    """Draw `count` different scenes, half of them with two kinds of things; deterministic in its arguments.

    Raises DataError if there are not that many.
    """
    kinds = product(GROUNDS, SHAPES, COLOURS, (1, 2, 3))
    alike = [Scene(ground, (Thing(shape, colour, n),)) for ground, shape, colour, n in kinds]
    if count > 2 * len(alike):
        raise DataError(f"{count} scenes asked for, but only {2 * len(alike)} exist: ask for fewer pictures")
    rng = Random(f"scenes {seed}")
    chosen = rng.sample(alike, count - count // 2) + rng.sample(list(_pairs()), count // 2)
    rng.shuffle(chosen)
    return chosen


def _pairs() -> Iterator[Scene]:
    shapes = [pair for pair in permutations(SHAPES, 2) if pair[0] < pair[1]]
    for ground, pair, colours, relation in product(GROUNDS, shapes, permutations(COLOURS, 2), TURNED):
        yield Scene(ground, tuple(map(Thing, pair, colours)), relation)


def draw(scene: Scene, size: int, rng: Random) -> Image.Image:
    """Draw the scene as an RGB picture of `size` x `size` pixels; shades and places vary with `rng`."""
    base, stroke = GROUNDS[scene.ground]
    picture = Image.new("RGB", (size, size), _shade(base, rng))
    pen = ImageDraw.Draw(picture)
    for _ in range(60):
        x, y = rng.random() * size, rng.random() * size
        pen.line((x, y, x + 0.04 * size, y), fill=_shade(stroke, rng))
    first, *others = scene.things
    shown = scene.things if others else (first,) * first.count
    for thing, (x, y) in zip(shown, PLACES[scene.relation or first.count], strict=True):
        centre = (x + rng.uniform(-0.03, 0.03), y + rng.uniform(-0.03, 0.03))
        _draw_thing(pen, thing, centre, size, rng)
    return picture


def _draw_thing(pen: ImageDraw.ImageDraw, thing: Thing, centre: Point, size: int, rng: Random) -> None:
    """Draw a thing around `centre`, a share of the picture's side of `size` pixels; its shade varies."""
    radius = RADIUS * rng.uniform(0.93, 1.07)
    corners = [
        ((centre[0] + x * radius) * size, (centre[1] + y * radius) * size) for x, y in SHAPES[thing.shape]
    ]
    paint = pen.polygon if len(corners) > 2 else pen.ellipse
    paint(corners, fill=_shade(COLOURS[thing.colour], rng), outline=(60, 50, 45))


def _shade(colour: RGB, rng: Random) -> RGB:
    """A random colour close to this one."""
    red, green, blue = (min(255, max(0, value + rng.randint(-12, 12))) for value in colour)
    return red, green, blue


def describe(scene: Scene, language: str, rng: Random) -> str:
    """Describe the scene in a sentence; the phrasing is drawn with `rng`."""
    words, things, relation = WORDS[language], scene.things, scene.relation
    if relation and rng.random() < 0.5:  # told from its other end
        things, relation = things[::-1], TURNED[relation]
    names = [name(thing, language, rng) for thing in things]
    content = rng.choice(words["relations"][relation]).format(*names) if relation else names[0]
    template: str = rng.choice(words["templates"])
    sentence = template.format(content, rng.choice(words["grounds"][scene.ground]))
    return sentence[0].upper() + sentence[1:]


def name(thing: Thing, language: str, rng: Random) -> str:
    """Name a thing, and how many there are."""
    nouns = WORDS[language]["nouns"][thing.shape]
    phrases: str = rng.choice(nouns)
    colour: str = WORDS[language]["colours"][thing.colour]
    return phrases.split("|")[thing.count - 1].replace("_", colour)


def captions(scene: Scene, language: str, rng: Random, count: int = CAPTIONS_PER_PICTURE) -> list[str]:
    """Write `count` different sentences for the scene; each language has more than CAPTIONS_PER_PICTURE."""
    sentences: dict[str, None] = {}
    while len(sentences) < count:
        sentences[describe(scene, language, rng)] = None
    return list(sentences)


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
    for number, set_name in enumerate(sets):
        start = pictures + TEST_LINES + number * fewer
        _write_set(folder / set_name, scenes[start : start + fewer], size, seed)
    for language in LANGUAGES:
        for file, shown in (
            (f"benchmark/synthetic_test/{language}.txt", lines),
            (f"text/{TEXT_SET}.{language}.txt", photos),
        ):
            rng = Random(f"{file} {seed}")
            _write_lines(folder / file, [describe(scene, language, rng) for scene in shown])
    _write_pictograms(folder / "pictograms", size, seed)


def concepts() -> dict[str, Thing]:
    """The code point of each pictogram -> what it shows: a thing of every shape in every colour."""
    return {f"{FIRST_CODE + i:x}": Thing(*kind) for i, kind in enumerate(product(SHAPES, COLOURS))}


def _write_pictograms(folder: Path, size: int, seed: int) -> None:
    """Write `folder`/ARTIST.tar and `folder`/names/LANG.tsv."""
    things = concepts()
    for artist, disc in ARTISTS.items():
        rng = Random(f"pictograms {seed} {artist}")
        drawn = (
            (f"{code}.png", _pictogram(thing, disc, size, rng))
            for i, (code, thing) in enumerate(things.items())
            if artist != max(ARTISTS) or i % 8 < DRAWN_OF_EIGHT
        )
        _write_tar(folder / f"{artist}.tar", drawn, "PNG")
    for language in LANGUAGES:
        rng = Random(f"pictograms {seed} {language}")
        lines = []
        for code, thing in things.items():
            title, *keywords = (name(thing, language, rng) for _ in range(1 + KEYWORDS_PER_CONCEPT))
            lines.append(f"{code}\t{title}\t{'|'.join(dict.fromkeys(keywords))}")
        _write_lines(folder / "names" / f"{language}.tsv", lines)


def _pictogram(thing: Thing, disc: RGB | None, size: int, rng: Random) -> Image.Image:
    picture = Image.new("RGBA", (size, size))
    pen = ImageDraw.Draw(picture)
    if disc:
        pen.ellipse((0, 0, size - 1, size - 1), fill=disc)
    _draw_thing(pen, thing, (0.5, 0.5), size, rng)
    return picture


def _write_set(folder: Path, scenes: Sequence[Scene], size: int, seed: int) -> None:
    names = [f"synthetic_{i:05d}.jpg" for i in range(len(scenes))]
    splits = [*["train"] * 8, "dev", "test"]  # of every ten
    _write_lines(folder / "splits.tsv", [f"{file}\t{splits[i % 10]}" for i, file in enumerate(names)])
    shown = list(zip(names, scenes, strict=True))
    drawn = ((file, draw(scene, size, Random(f"picture {seed} {file}"))) for file, scene in shown)
    _write_tar(folder / "images.tar", drawn, "JPEG", quality=90)
    for language in LANGUAGES:
        rng = Random(f"captions {seed} {language}")
        lines = [f"{file}\t{text}\thuman" for file, scene in shown for text in captions(scene, language, rng)]
        _write_lines(folder / "captions" / f"{language}.tsv", lines)


def _write_tar(file: Path, pictures: Iterable[tuple[str, Image.Image]], kind: str, **options: int) -> None:
    """Write (name, picture) pairs as a tar of files of the format `kind` of PIL, saved with `options`."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(file, "w", format=tarfile.USTAR_FORMAT) as archive:
        for picture_name, picture in pictures:
            buffer = io.BytesIO()
            picture.save(buffer, kind, **options)
            entry = tarfile.TarInfo(picture_name)
            entry.size = buffer.tell()
            buffer.seek(0)
            archive.addfile(entry, buffer)


def _write_lines(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
