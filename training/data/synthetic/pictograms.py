"""Draws pictograms of things by three artists, in the layout of docs/data.md."""

import io
import tarfile
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from random import Random
from typing import get_args

from PIL import Image, ImageDraw

from training.data.synthetic.grammar import GRAMMARS, Colour, Shape, Size, Thing
from training.data.synthetic.things import RGB, draw_thing

# Artist -> size of the things, and colour of the disc behind them; the rest is transparent.
ARTISTS: Mapping[str, tuple[Size, RGB | None]] = {
    "brush": ("big", None),
    "pencil": ("medium", None),
    "stamp": ("big", (225, 225, 225)),
}
FIRST_CODE = 0xF0000  # Unicode's private use plane
KEYWORDS_PER_CONCEPT = 3  # drawn per concept; equal ones are written once
DRAWN_OF_EIGHT = 7  # the last artist draws so many of every 8 concepts


def concepts() -> dict[str, Thing]:
    """Code point -> a thing of every shape in every colour."""
    kinds = product(get_args(Shape), get_args(Colour))
    return {f"{FIRST_CODE + i:x}": Thing(shape, colour) for i, (shape, colour) in enumerate(kinds)}


def draw_pictogram(thing: Thing, artist: str, size: int, rng: Random) -> Image.Image:
    """Draw a thing in an artist's manner, as an RGBA picture of `size` x `size` pixels."""
    extent, disc = ARTISTS[artist]
    picture = Image.new("RGBA", (size, size))
    pen = ImageDraw.Draw(picture)
    if disc:
        pen.ellipse((0, 0, size - 1, size - 1), fill=disc)
    draw_thing(pen, Thing(thing.shape, thing.colour, extent), (0.5, 0.5), size, rng)
    return picture


def write_pictograms(folder: Path, size: int, seed: int) -> None:
    """Write `folder`/ARTIST.tar and `folder`/names/LANG.tsv. Equal arguments give equal bytes."""
    (folder / "names").mkdir(parents=True)
    things = concepts()
    for artist in ARTISTS:
        shown = [
            c
            for i, c in enumerate(things)
            if artist != max(ARTISTS) or i % (DRAWN_OF_EIGHT + 1) < DRAWN_OF_EIGHT
        ]
        rng = Random(f"pictograms {seed} {artist}")
        drawn = ((f"{code}.png", draw_pictogram(things[code], artist, size, rng)) for code in shown)
        write_tar(folder / f"{artist}.tar", drawn, "PNG")
    for language, grammar in GRAMMARS.items():
        rng = Random(f"pictograms {seed} {language}")
        lines = []
        for code, thing in things.items():
            name, *keywords = (
                grammar.name(thing, "nominative", rng) for _ in range(1 + KEYWORDS_PER_CONCEPT)
            )
            lines.append(f"{code}\t{name}\t{'|'.join(dict.fromkeys(keywords))}\n")
        (folder / "names" / f"{language}.tsv").write_text("".join(lines), encoding="utf-8", newline="\n")


def write_tar(file: Path, pictures: Iterable[tuple[str, Image.Image]], kind: str, **options: int) -> None:
    """Write (name, picture) pairs as a tar of files of the format `kind` of PIL, saved with `options`."""
    with tarfile.open(file, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, picture in pictures:
            buffer = io.BytesIO()
            picture.save(buffer, kind, **options)
            entry = tarfile.TarInfo(name)
            entry.size = buffer.tell()
            buffer.seek(0)
            archive.addfile(entry, buffer)
