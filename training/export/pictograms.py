"""Puts the openly licensed pictures that an encoder learned from into its bundle, as vectors among its texts.

They are computed from the pictures in the bundle's picture space. Names find names better than drawings do: a
picture is the mean of itself and of what is said of it (`passepartout evaluate pictograms` measures both).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
import torch
from numpy.typing import NDArray

from evaluation.reports.card import with_section
from evaluation.suites.pictograms import Named, is_flag, read_names
from index.encoder.bundle import (
    CARD,
    PICTOGRAMS,
    PICTURES,
    Bundle,
    open_bundle,
    publish_bundle,
    staging_folder,
)
from index.encoder.picture_space import PictureSpace
from index.encoder.pictures import packed
from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import Vectors, unit
from index.errors import DataError, UsageError
from training.data.folder import DataFolder
from training.data.pictograms import is_drawing, open_artists
from training.data.picture_sets import move_onto_first_set, open_set, set_of
from training.data.settings import PICTOGRAM_SET
from training.data.terms import data_terms
from training.encoders.features import features_of_collection
from training.encoders.vision import load_backbone
from training.export.picture_space import open_space
from training.recipes.recipe import Recipe

SECTION_TITLE = "What it sees"
SECTION_TEMPLATE = """## {title}

`pictures.safetensors` has the vectors of {pictograms} pictograms in the space of the texts. Half of each is
the mean of its drawings, half that of its names; their artists are among the credits below. With them are
{others} pictures of other openly licensed sets, with which a language is taught (`passepartout
learn-language`); by `picture_space.safetensors` it is taught with pictures of your own.

`passepartout bundle pictograms BUNDLE --data DIR`

"""


def write_pictograms(folder: Path, data: Path, recipe: Recipe) -> tuple[int, int]:
    """Add pictures.safetensors to a bundle; returns how many pictograms and how many other pictures it has.

    recipe: what the bundle was trained with; data: the folder that it was trained on. Raises UsageError for a
    bundle without a picture space or a recipe without pictograms, DataError for missing files.
    """
    bundle = open_bundle(folder)
    if recipe.name != bundle.manifest.recipe.name:
        raise UsageError(f"--recipe {recipe.name}: {folder} was trained with {bundle.manifest.recipe.name}")
    if PICTOGRAM_SET not in recipe.data.sets:
        raise UsageError(
            f"recipe {recipe.name}: it learned from no pictograms ({PICTOGRAM_SET} in data.sets)"
        )
    pictures = _open_pictures(open_space(bundle), recipe, data)
    encoder = TextEncoder(bundle)
    codes, pictograms = _pictograms(pictures, encoder, recipe, data)
    others, vectors = _other_pictures(pictures, encoder)
    names = [*(f"{PICTOGRAM_SET}/{code}" for code in codes), *others]
    _publish(
        bundle,
        packed(names, np.concatenate([pictograms, vectors])),
        SECTION_TEMPLATE.format(title=SECTION_TITLE, pictograms=len(codes), others=len(others)),
    )
    return len(codes), len(others)


@dataclass(frozen=True)
class _OpenPictures:
    """Openly licensed pictures, also held-out ones, as (n, d) unit rows in the recipe's picture space.

    captions: language -> picture -> captions that were trained on.
    """

    names: Sequence[str]
    vectors: Vectors
    captions: Mapping[str, Mapping[str, Sequence[str]]]


def _open_pictures(space: PictureSpace, recipe: Recipe, data: Path) -> _OpenPictures:
    folder, vision = DataFolder(data), recipe.vision
    captioned = folder.captions("train", recipe.data)
    learned = captioned.pictures
    shipped = [name for name, terms in data_terms(data, recipe.data).items() if terms.open]
    sets = [name for name in recipe.data.sets if name in shipped and name != PICTOGRAM_SET]
    names = [name for archive in open_artists(data, 1) for name in archive.names]
    names += [name for set_name in sets for name in open_set(data, set_name, 1).names]
    pictures = tuple(dict.fromkeys((*learned, *names)))
    archive = folder.pictures(recipe.data, vision.image_size)
    archive.require(pictures)
    backbone = load_backbone(vision.backbone, data)
    features = features_of_collection(backbone, archive, pictures, vision.views, torch.get_num_threads())
    move_onto_first_set(features, pictures, len(learned))
    captions: dict[str, dict[str, list[str]]] = {}
    for caption in captioned.captions:
        if set_of(name := learned[caption.picture]) in sets:
            captions.setdefault(caption.language, {}).setdefault(name, []).append(caption.text)
    rows = {name: row for row, name in enumerate(pictures)}
    return _OpenPictures(names, space(features)[[rows[name] for name in names]], captions)


def _pictograms(
    pictures: _OpenPictures, encoder: TextEncoder, recipe: Recipe, data: Path
) -> tuple[list[str], Vectors]:
    """The code points of pictograms that are named in each language with sentences, and their vectors."""
    drawn: dict[str, list[Vectors]] = {}
    for name, vector in zip(pictures.names, pictures.vectors, strict=True):
        if is_drawing(name):
            drawn.setdefault(PurePosixPath(name).stem, []).append(vector)
    languages = _with_sentences(encoder.bundle.manifest.languages, recipe, data)
    named = {code: listed for code in languages if (listed := _names(data, code))}
    codes = [code for code in sorted(drawn) if all(code in listed for listed in named.values())]
    codes = [code for code in codes if not is_flag(code)]
    if not codes:
        raise DataError(f"{data / PICTOGRAM_SET}: no concept has a drawing and a name in each language")
    texts = [encoder.encode([listed[code].name for code in codes]) for listed in named.values()]
    drawings = unit(np.stack([np.mean(drawn[code], axis=0) for code in codes]))
    return codes, _mixed(drawings, np.mean(texts, axis=0))


def _with_sentences(languages: Sequence[str], recipe: Recipe, data: Path) -> Sequence[str]:
    """The languages with captions in the recipe's first set; all if that is the pictograms.

    The vectors of names in languages without sentences are hardly comparable with those of other languages.
    """
    captions = data / recipe.data.sets[0] / "captions"
    return [code for code in languages if (captions / f"{code}.tsv").is_file()] or languages


def _other_pictures(pictures: _OpenPictures, encoder: TextEncoder) -> tuple[list[str], Vectors]:
    """The names and vectors (n, d) of pictures that are not pictograms.

    A vector is the mean of the picture's and of its captions'; of a held-out picture it is its own alone.
    """
    rows = [row for row, name in enumerate(pictures.names) if not is_drawing(name)]
    names = [pictures.names[row] for row in rows]
    positions = {name: position for position, name in enumerate(names)}
    sums = np.zeros((len(names), encoder.dimension), np.float32)
    for code, captions in pictures.captions.items():
        if code in encoder.bundle.manifest.languages:
            owners = [positions[name] for name, texts in captions.items() for _ in texts]
            vectors = encoder.encode([text for texts in captions.values() for text in texts], language=code)
            np.add.at(sums, owners, vectors)
    return names, _mixed(pictures.vectors[rows], sums)


def _mixed(pictures: Vectors, texts: NDArray[np.float32]) -> Vectors:
    """Unit vectors halfway between pictures (n, d) and texts (n, d) of any length."""
    return unit(pictures + unit(texts))


def _names(data: Path, language: str) -> Mapping[str, Named]:
    file = data / PICTOGRAM_SET / "names" / f"{language}.tsv"
    return read_names(file) if file.is_file() else {}


def _publish(bundle: Bundle, content: bytes, section: str) -> None:
    """Replace the bundle by one with these pictures and this section of the card."""
    folder = bundle.folder
    staging = staging_folder(folder, folder)
    (staging / PICTOGRAMS).unlink(missing_ok=True)
    (staging / PICTURES).write_bytes(content)
    page = bundle.card.read_text("utf-8")
    (staging / CARD).write_text(with_section(page, section, SECTION_TITLE), "utf-8")
    publish_bundle(staging, folder, bundle.manifest)
