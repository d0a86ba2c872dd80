"""Pictograms as a set of captioned pictures: concepts that several artists drew.

Reads the `pictograms/` folder of docs/data.md. Drawings of concepts that are held out for testing
(evaluation.pictograms.part_of) are never given out.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path, PurePosixPath
from typing import Literal

from evaluation.suites.pictograms import Named, part_of, read_names
from index.errors import DataError
from training.data.pictures import PictureArchive
from training.data.settings import PICTOGRAM_SET, DataSettings

Owners = list[tuple[str, tuple[str, ...]]]  # pictures, and the languages whose captions are seen with them
Texts = dict[str, dict[str, list[str]]]  # language -> picture -> captions


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
) -> tuple[Owners, Texts]:
    """Read the drawings to train on or to validate with.

    Their captions are the concept's name and, as a second caption, its keywords. "disjoint" assigns each
    drawing to one language (`deal`); "shared" keeps the captions of every language. A language without a file
    of names has none. Raises DataError if files are missing or malformed, or no language has names.
    """
    names = {code: of_code for code in settings.languages if (of_code := names_in(data, code))}
    if not names:
        raise DataError(f"{data / PICTOGRAM_SET / 'names'} has none of {', '.join(settings.languages)}")
    drawings = [name for archive in open_artists(data, 1) for name in archive.names]
    learned = [name for name in drawings if part_of(_code(name)) == part]
    if settings.pictures == "disjoint":
        owners: Owners = [(name, (code,)) for name, code in deal(learned, names).items()]
    else:
        owners = [(name, tuple(names)) for name in learned]
    return owners, {code: _captions(named, owners, code) for code, named in names.items()}


def deal(drawings: Sequence[str], names: Mapping[str, Mapping[str, Named]]) -> dict[str, str]:
    """Assign each drawing to one language.

    Concepts come in the order of a hash; the languages that name a concept take turns at its drawings, those
    with the fewest drawings so far first. So a concept is shown in as many languages as it has drawings, all
    languages get about as many drawings, and which languages share a concept is pseudo-random.
    """
    concepts: dict[str, list[str]] = {}
    for drawing in sorted(drawings, key=lambda name: _hash(name.removeprefix(f"{PICTOGRAM_SET}/"))):
        concepts.setdefault(_code(drawing), []).append(drawing)
    drawing_counts: Counter[str] = Counter()
    assignment = {}
    for code in sorted(concepts, key=_hash):
        named = [language for language, concept_names in names.items() if code in concept_names]
        order = sorted(named, key=lambda language: (drawing_counts[language], _hash(f"{language} {code}")))
        for drawing, language in zip(concepts[code], cycle(order), strict=False):
            assignment[drawing] = language
            drawing_counts[language] += 1
    return assignment


def _captions(names: Mapping[str, Named], owners: Owners, language: str) -> dict[str, list[str]]:
    drawings = [name for name, codes in owners if language in codes and _code(name) in names]
    return {name: names[_code(name)].captions for name in drawings}


def names_in(data: Path, language: str) -> dict[str, Named]:
    """Code points -> what a language calls them; empty where it has no file of names."""
    file = data / PICTOGRAM_SET / "names" / f"{language}.tsv"
    return read_names(file) if file.is_file() else {}


def _code(drawing: str) -> str:
    return PurePosixPath(drawing).stem


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
