"""A small set of pictograms drawn by code, in the layout of docs/data.md: things, by three artists."""

import io
import tarfile
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from random import Random
from typing import get_args

from PIL import Image, ImageDraw

from training.data.synthetic.grammar import GRAMMARS, Colour, Shape, Size, Thing
from training.data.synthetic.things import RGB, draw_thing

# Artist -> how big the things are, and the disc that they stand on; all else is transparent.
ARTISTS: Mapping[str, tuple[Size, RGB | None]] = {
    "brush": ("big", None),
    "pencil": ("medium", None),
    "stamp": ("big", (225, 225, 225)),
}
FIRST_CODE = 0xF0000  # for private use
KEYWORDS = 3  # asked for; the same one twice counts once
SHOWN = 7  # of every 8 concepts, the last artist drew so many


def concepts() -> dict[str, Thing]:
    """Code point -> a thing of every shape in every colour."""
    kinds = product(get_args(Shape), get_args(Colour))
    return {f"{FIRST_CODE + i:x}": Thing(shape, colour) for i, (shape, colour) in enumerate(kinds)}


def draw_pictogram(thing: Thing, artist: str, size: int, rng: Random) -> Image.Image:
    """An RGBA picture of `size` x `size` pixels in an artist's manner."""
    extent, disc = ARTISTS[artist]
    picture = Image.new("RGBA", (size, size))
    pen = ImageDraw.Draw(picture)
    if disc:
        pen.ellipse((0, 0, size - 1, size - 1), fill=disc)
    draw_thing(pen, Thing(thing.shape, thing.colour, extent), (0.5, 0.5), size, rng)
    return picture


def write_pictograms(folder: Path, size: int, seed: int) -> None:
    """Write `folder`/ARTIST.tar and `folder`/names/LANG.tsv. Equal arguments, equal bytes."""
    (folder / "names").mkdir(parents=True)
    things = concepts()
    for artist in ARTISTS:
        shown = [c for i, c in enumerate(things) if artist != max(ARTISTS) or i % (SHOWN + 1) < SHOWN]
        rng = Random(f"pictograms {seed} {artist}")
        drawn = {f"{code}.png": draw_pictogram(things[code], artist, size, rng) for code in shown}
        _write_tar(folder / f"{artist}.tar", drawn)
    for language, grammar in GRAMMARS.items():
        rng = Random(f"pictograms {seed} {language}")
        lines = []
        for code, thing in things.items():
            name, *more = (grammar.phrase(thing, "nominative", rng) for _ in range(1 + KEYWORDS))
            lines.append(f"{code}\t{name}\t{'|'.join(dict.fromkeys(more))}\n")
        (folder / "names" / f"{language}.tsv").write_text("".join(lines), encoding="utf-8", newline="\n")


def _write_tar(file: Path, pictures: Mapping[str, Image.Image]) -> None:
    with tarfile.open(file, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, picture in pictures.items():
            buffer = io.BytesIO()
            picture.save(buffer, "PNG")
            entry = tarfile.TarInfo(name)
            entry.size = buffer.tell()
            buffer.seek(0)
            archive.addfile(entry, buffer)
