"""Pictograms as a set of captioned pictures: concepts that several artists drew.

Reads the `pictograms/` folder of docs/data.md. Drawings of concepts that are held out for testing
(evaluation.suites.pictograms.part_of) are never given out.
"""

from pathlib import Path, PurePosixPath
from typing import Literal

from evaluation.suites.pictograms import Named, part_of, read_names
from index.errors import DataError
from training.data.dealing import CaptionTexts, Owners, disjoint_drawings, shared
from training.data.pictures import PictureArchive
from training.data.settings import PICTOGRAM_SET, DataSettings


def open_artists(data: Path, size: int) -> list[PictureArchive]:
    """Open the archives of all artists; drawings are named pictograms/ARTIST/CODE.png.

    DataError if there is none.
    """
    files = sorted((data / PICTOGRAM_SET).glob("*.tar"))
    if not files:
        raise DataError(f"{data / PICTOGRAM_SET} has no ARTIST.tar: see docs/data.md, or change data.sets")
    return [PictureArchive(file, size, f"{PICTOGRAM_SET}/{file.stem}/") for file in files]


def is_drawing(picture: str) -> bool:
    """Whether a picture, SET/NAME, is a drawing of a pictogram."""
    return picture.startswith(f"{PICTOGRAM_SET}/")


def load_drawings(
    data: Path, settings: DataSettings, part: Literal["train", "dev"] = "train"
) -> tuple[Owners, CaptionTexts]:
    """Read the drawings to train on or to validate with.

    Their captions are the concept's name and, as a second caption, its keywords. A language without a file of
    names has none. Raises DataError if files are missing or malformed, or no language has names.
    """
    names = {code: of_code for code in settings.languages if (of_code := names_in(data, code))}
    if not names:
        lacking = f"{data / PICTOGRAM_SET / 'names'} has none of {', '.join(settings.languages)}"
        raise DataError(f"{lacking}: best-without-mining is a recipe that needs none (docs/tutorials)")
    drawings = [name for archive in open_artists(data, 1) for name in archive.names]
    learned = [name for name in drawings if part_of(_code(name)) == part]
    texts = {
        code: {name: named[_code(name)].captions for name in learned if _code(name) in named}
        for code, named in names.items()
    }
    deal = disjoint_drawings if settings.pictures == "disjoint" else shared
    return deal(learned, texts, settings), texts


def names_in(data: Path, language: str) -> dict[str, Named]:
    """Code points -> what a language calls them; empty where it has no file of names."""
    file = data / PICTOGRAM_SET / "names" / f"{language}.tsv"
    return read_names(file) if file.is_file() else {}


def _code(drawing: str) -> str:
    return PurePosixPath(drawing).stem
