"""Reads which captions of which pictures a recipe trains, validates and calibrates on (docs/data.md)."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from index.errors import DataError, listed
from training.data.dealing import CaptionTexts, Owners
from training.data.pictograms import load_drawings
from training.data.picture_sets import load_set
from training.data.settings import PICTOGRAM_SET, DataSettings


@dataclass(frozen=True)
class Caption:
    """One sentence about a picture; `picture` is the row of its name in `CaptionedPictures.pictures`."""

    picture: int
    language: str
    text: str


@dataclass(frozen=True)
class CaptionedPictures:
    """Pictures, SET/NAME, and the captions that training may show with them."""

    pictures: tuple[str, ...]
    captions: tuple[Caption, ...]

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(sorted({caption.language for caption in self.captions}))

    @property
    def texts(self) -> list[str]:
        """The captions alone, in order."""
        return [caption.text for caption in self.captions]

    @property
    def sha256(self) -> str:
        """Checksum of names, languages and texts, in order."""
        digest = hashlib.sha256()
        for caption in self.captions:
            row = f"{self.pictures[caption.picture]}\t{caption.language}\t{caption.text}\n"
            digest.update(row.encode())
        return digest.hexdigest()


def load_split(data: Path, split: str, settings: DataSettings) -> CaptionedPictures:
    """Read the pictures of a split of the recipe's sets, with the captions that `settings` allows.

    Set by set, pictures are dealt to languages (`dealing`); one that has no caption is left out. Pictograms
    beside other sets are in "train" only. Raises DataError if files are missing or malformed, a language has
    captions in no set, or no picture is left.
    """
    owners: Owners = []
    texts: CaptionTexts = {}
    for name in settings.sets:
        if name != PICTOGRAM_SET:
            more, captions = load_set(data, name, split, settings)
        elif split == "train" or len(settings.sets) == 1:
            more, captions = load_drawings(data, settings, "train" if split == "train" else "dev")
        else:
            continue
        owners += more
        for language, of_picture in captions.items():
            texts[language] = texts.get(language, {}) | of_picture
    lacking = [code for code in settings.languages if not texts.get(code)]
    if split == "train" and lacking:
        raise DataError(_lacking(data, lacking, settings, all(code in texts for code in lacking)))
    return _gather(data, owners, texts)


def _lacking(data: Path, codes: list[str], settings: DataSettings, all_found: bool) -> str:
    """Which languages have no captions, or none of the recipe's kinds, and the settings that do without."""
    found = [file for name in settings.sets for file in (data / name / "captions").glob("*.tsv")]
    have = json.dumps(sorted({file.stem for file in found}))
    cures = "" if all_found else f" --set 'data.languages={have}'"
    kinds = " or ".join(map(repr, settings.caption_kinds))
    cures += " --set 'data.caption_kinds=[]'" if kinds else ""
    files = f"{listed([f'captions/{code}.tsv' for code in codes])} of {', '.join(settings.sets)}"
    return f"{data} has no captions{kinds and f' made by {kinds}'} in {files}: train what there is,{cures}"


def _gather(data: Path, owners: Owners, texts: CaptionTexts) -> CaptionedPictures:
    pictures: list[str] = []
    captions: list[Caption] = []
    for name, languages in owners:
        picture_captions = [
            Caption(len(pictures), language, text)
            for language in languages
            for text in texts[language].get(name, ())
        ]
        if picture_captions:
            pictures.append(name)
            captions.extend(picture_captions)
    if not pictures:
        raise DataError(
            f"{data}: no picture has captions in the recipe's languages and kinds; where languages have "
            'pictures of their own, set data.pictures = "shared"'
        )
    return CaptionedPictures(tuple(pictures), tuple(captions))


def shuffled(data: CaptionedPictures, seed: int) -> CaptionedPictures:
    """Move the captions of each picture, language by language, to another that the language has: the control.

    If all languages were moved alike, a picture would still tell which of their captions belong together.
    """
    draw = np.random.default_rng(seed)
    rows: dict[str, dict[int, None]] = {}
    for caption in data.captions:
        rows.setdefault(caption.language, {})[caption.picture] = None
    moved = {
        language: dict(zip(own, draw.permutation(list(own)).tolist(), strict=True))
        for language, own in sorted(rows.items())
    }
    captions = [Caption(moved[c.language][c.picture], c.language, c.text) for c in data.captions]
    return CaptionedPictures(data.pictures, tuple(captions))
