"""Reads which captions of which pictures a recipe trains, validates and calibrates on.

They come from the `photos/` folder of docs/data.md, and from `pictograms/` if the recipe uses it.
"""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from evaluation.suites.sets import read_captions, read_split
from index.errors import DataError
from training.data.pictograms import Owners, Texts, load_drawings
from training.data.settings import DataSettings


@dataclass(frozen=True)
class Caption:
    """One sentence about a picture; `picture` is the row of its name in `CaptionedPictures.pictures`."""

    picture: int
    language: str
    text: str


@dataclass(frozen=True)
class CaptionedPictures:
    """Pictures by name and the captions that training may show with them."""

    pictures: tuple[str, ...]
    captions: tuple[Caption, ...]

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(sorted({caption.language for caption in self.captions}))

    def without(self, pictures: Collection[str]) -> "CaptionedPictures":
        """A copy without those pictures and their captions."""
        kept_rows = [row for row, name in enumerate(self.pictures) if name not in pictures]
        new_row = {row: number for number, row in enumerate(kept_rows)}
        captions = [replace(c, picture=new_row[c.picture]) for c in self.captions if c.picture in new_row]
        return CaptionedPictures(tuple(self.pictures[row] for row in kept_rows), tuple(captions))

    @property
    def sha256(self) -> str:
        """Checksum of names, languages and texts, in order."""
        digest = hashlib.sha256()
        for caption in self.captions:
            row = f"{self.pictures[caption.picture]}\t{caption.language}\t{caption.text}\n"
            digest.update(row.encode())
        return digest.hexdigest()


def load_split(data: Path, split: str, settings: DataSettings) -> CaptionedPictures:
    """Read the pictures of a split with the captions that `settings` allows.

    "disjoint" keeps the pictures that have a caption in every language, sorts them by the SHA-256 of their
    name and assigns picture i to language i mod M of the rotation alone; "pivoted" assigns it to the first
    language and to one of the others in turn; "common" keeps every M-th of these pictures, with all of its
    captions; "shared" keeps every picture that has any caption. A language with captions of pictograms only
    gets no photographs. Held-out languages count among the M; an added language gets what was held out for it
    and the pictures that none of the M had. Where there are photographs, pictograms are in "train" only
    (training.data.pictograms). Raises DataError if files are missing or malformed, or no picture is left.
    """
    owners, texts = _photographs(data, split, settings) if settings.photographs else ([], {})
    if settings.pictograms and (split == "train" or not settings.photographs):
        drawings, named = load_drawings(data, settings, "train" if split == "train" else "dev")
        owners += drawings
        for language, captions in named.items():
            texts[language] = texts.get(language, {}) | captions
    return _gather(data / "photos" if settings.photographs else data / "pictograms", owners, texts)


def _photographs(data: Path, split: str, settings: DataSettings) -> tuple[Owners, Texts]:
    photos = data / "photos"
    members = sorted(read_split(photos / "splits.tsv", split))
    codes = dict.fromkeys((*settings.languages, *settings.held_out))
    captioned = [code for code in codes if not settings.pictograms or _caption_file(photos, code).is_file()]
    texts = {language: _texts(photos, language, settings.caption_kinds) for language in captioned}
    return _owners(members, texts, settings), texts


def _owners(members: Sequence[str], texts: dict[str, dict[str, list[str]]], settings: DataSettings) -> Owners:
    """Assign photographs to the languages whose captions are shown with them."""
    captioned = list(texts)
    if settings.pictures == "pivoted":
        pivot, *others = captioned
        assignment = _disjoint(members, texts, captioned, others)
        return [(name, (pivot, code)) for name, code in assignment.items()]
    if settings.pictures == "common":
        assignment = _disjoint(members, texts, captioned, captioned)
        return [(name, tuple(captioned)) for name in list(assignment)[:: len(captioned)]]
    if settings.pictures == "shared":
        return [(name, tuple(captioned)) for name in members]
    taking = [code for code in (*settings.first, *settings.held_out) if code in texts]
    turns = [code for code in settings.rotation or taking if code in texts]
    assignment = _disjoint(members, texts, taking, turns)
    owners: Owners = [(name, (code,)) for name, code in assignment.items() if code in settings.languages]
    return owners + list(_left_over(members, texts, assignment, settings.added))


def _caption_file(photos: Path, language: str) -> Path:
    return photos / "captions" / f"{language}.tsv"


def _texts(photos: Path, language: str, kinds: Sequence[str]) -> dict[str, list[str]]:
    """Picture name -> captions of one language whose kind is among `kinds` (all kinds when empty)."""
    texts: dict[str, list[str]] = {}
    for caption in read_captions(_caption_file(photos, language)):
        if not kinds or caption.source in kinds:
            texts.setdefault(caption.image, []).append(caption.text)
    return texts


def _disjoint(
    members: Sequence[str],
    texts: dict[str, dict[str, list[str]]],
    languages: Sequence[str],
    turns: Sequence[str],
) -> dict[str, str]:
    """Picture with a caption in each of `languages` -> its language, the next one of `turns`."""
    pool = [name for name in members if all(name in texts[language] for language in languages)]
    pool.sort(key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    return {name: turns[i % len(turns)] for i, name in enumerate(pool)}


def _left_over(
    members: Sequence[str],
    texts: dict[str, dict[str, list[str]]],
    assignment: Collection[str],
    added: Sequence[str],
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Assign each unassigned picture to the first added language that has a caption of it."""
    for name in members:
        owner = next((code for code in added if name in texts[code]), None)
        if name not in assignment and owner:
            yield name, (owner,)


def _gather(
    folder: Path, owners: Sequence[tuple[str, tuple[str, ...]]], texts: dict[str, dict[str, list[str]]]
) -> CaptionedPictures:
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
            f"{folder}: no picture has captions in the recipe's languages and kinds; where languages have "
            'pictures of their own, set data.pictures = "shared"'
        )
    return CaptionedPictures(tuple(pictures), tuple(captions))


def shuffled(data: CaptionedPictures, seed: int) -> CaptionedPictures:
    """Move the captions of each picture to another picture, drawn by `seed`: the control."""
    moved = np.random.default_rng(seed).permutation(len(data.pictures))
    captions = [Caption(int(moved[c.picture]), c.language, c.text) for c in data.captions]
    return CaptionedPictures(data.pictures, tuple(captions))
