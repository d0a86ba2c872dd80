"""The data folder (docs/data.md): captions, pictures, and sentences without pictures."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from evaluation.suites.sets import read_captions, read_lines, read_split
from index.errors import DataError
from training.data.captions import CaptionedPictures
from training.data.pictograms import open_artists
from training.data.picture_sets import open_set
from training.data.pictures import PictureCollection
from training.data.settings import PICTOGRAM_SET, DataSettings


def open_pictures(data: Path, settings: DataSettings, size: int) -> PictureCollection:
    """The pictures of a recipe's sets, `size` pixels square."""
    archives = [open_set(data, name, size) for name in settings.sets if name != PICTOGRAM_SET]
    drawings = open_artists(data, size) if PICTOGRAM_SET in settings.sets else []
    return PictureCollection([*archives, *drawings])


def texts_by_name(data: Path, settings: DataSettings, seed: int) -> dict[str, dict[str, list[str]]]:
    """Name -> language -> the sentences without pictures that a run is trained on."""
    return {name: load_texts(data, name, settings.languages, seed) for name in settings.texts}


def find_folder(name: str, data: Path) -> Path | None:
    """Find a folder by name, below `data` first, then as a path; None if there is neither."""
    return next((path for path in (data / name, Path(name)) if path.is_dir()), None)


def load_texts(data: Path, name: str, languages: Sequence[str], seed: int) -> dict[str, list[str]]:
    """Read the distinct sentences of a text, for those languages that have it.

    It is `text/NAME.LANG.txt`; or the training captions of a picture set NAME; or LANG.txt in a folder NAME
    below `data`, or elsewhere if NAME has a slash. Each language is shuffled by itself: lines of two files
    may be translations, and training must not know which. DataError if no language has it.
    """
    sentences: dict[str, list[str]] = {}
    for language, rows in _read_text(data, name, languages).items():
        if lines := sorted(set(rows)):
            order = np.random.default_rng([seed, *language.encode()]).permutation(len(lines))
            sentences[language] = [lines[i] for i in order]
    if not sentences:
        raise DataError(
            f"{data / 'text'}: no {name}.LANG.txt for any of {', '.join(languages)}, and no folder {name} "
            "with sentences of theirs; add them, or do without: --set data.texts="
        )
    return sentences


def _read_text(data: Path, name: str, languages: Sequence[str]) -> dict[str, list[str]]:
    """Language -> the sentences of a text, where it has a file."""
    files = {language: data / "text" / f"{name}.{language}.txt" for language in languages}
    folder = find_folder(name, data) if "/" in name or (data / name).is_dir() else None
    if folder is not None and not any(file.is_file() for file in files.values()):
        if (folder / "splits.tsv").is_file():
            return _captions_in(folder, languages)
        files = {language: folder / f"{language}.txt" for language in languages}
    return {language: read_lines(file) for language, file in files.items() if file.is_file()}


def _captions_in(folder: Path, languages: Sequence[str]) -> dict[str, list[str]]:
    """Language -> the training captions of a picture set."""
    images = read_split(folder / "splits.tsv", "train")
    files = {language: folder / "captions" / f"{language}.tsv" for language in languages}
    read = {language: read_captions(file) for language, file in files.items() if file.is_file()}
    return {language: [row.text for row in rows if row.image in images] for language, rows in read.items()}


def joined(texts: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, list[str]]:
    """Name -> language -> sentences, as language -> the sentences of all names, one name after the other."""
    languages = dict.fromkeys(language for of_name in texts.values() for language in of_name)
    return {
        language: [sentence for of_name in texts.values() for sentence in of_name.get(language, ())]
        for language in languages
    }


def data_sha256(captions: CaptionedPictures, texts: Mapping[str, Sequence[str]]) -> str:
    """Checksum of the captions and of the sentences without pictures, if there are any."""
    if not texts:
        return captions.sha256
    digest = hashlib.sha256(captions.sha256.encode())
    for language, sentences in texts.items():
        digest.update("".join(f"{language}\t{sentence}\n" for sentence in sentences).encode())
    return digest.hexdigest()
