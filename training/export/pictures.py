"""The openly licensed pictures that an encoder learned from, as vectors among its texts, for its bundle.

They are computed from the pictures in the bundle's picture space. Names find names better than drawings do: a
picture is the mean of itself and of what is said of it (docs/research.md).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from evaluation.suites.pictograms import is_flag
from index.arrays import Vectors, unit
from index.encoder.picture_space import PictureSpace
from index.encoder.pictures import Pictures
from index.encoder.text_encoder import TextEncoder
from training.data.captions import load_split
from training.data.folder import open_pictures
from training.data.pictograms import is_drawing, names_in, open_artists
from training.data.picture_sets import move_onto_first_set, open_set, set_of
from training.data.settings import PICTOGRAM_SET
from training.data.terms import data_terms
from training.encoders.features import features_of_collection
from training.encoders.vision import load_backbone
from training.recipes.recipe import Recipe

Captions = Mapping[str, Mapping[str, Sequence[str]]]  # language -> picture -> those that were trained on


def pictures_of(encoder: TextEncoder, recipe: Recipe, data: Path) -> Pictures | None:
    """Embed the pictures of a bundle, pictograms first; None if its recipe has none or no picture space.

    recipe: what it was trained with; data: the folder that it was trained on. DataError for missing files.
    """
    space = PictureSpace.open(encoder.bundle)
    if space is None or PICTOGRAM_SET not in recipe.data.sets:
        return None
    pictures, captions = _open_pictures(space, recipe, data)
    codes, pictograms = _pictograms(pictures, encoder, recipe, data)
    others, vectors = _other_pictures(pictures, captions, encoder)
    names = (*(f"{PICTOGRAM_SET}/{code}" for code in codes), *others)
    return Pictures(names, np.concatenate([pictograms, vectors]))


def _open_pictures(space: PictureSpace, recipe: Recipe, data: Path) -> tuple[Pictures, Captions]:
    """Openly licensed pictures, also held-out ones, in the recipe's picture space, and their captions."""
    vision, captioned = recipe.vision, load_split(data, "train", recipe.data)
    learned = captioned.pictures
    shipped = [name for name, terms in data_terms(data, recipe.data).items() if terms.open]
    sets = [name for name in recipe.data.sets if name in shipped and name != PICTOGRAM_SET]
    names = [name for archive in open_artists(data, 1) for name in archive.names]
    names += [name for set_name in sets for name in open_set(data, set_name, 1).names]
    pictures = tuple(dict.fromkeys((*learned, *names)))
    archive = open_pictures(data, recipe.data, vision.image_size)
    archive.require(pictures)
    backbone = load_backbone(vision.backbone, data)
    features = features_of_collection(backbone, archive, pictures, vision.views)
    move_onto_first_set(features, pictures, len(learned))
    captions: dict[str, dict[str, list[str]]] = {}
    for caption in captioned.captions:
        if set_of(name := learned[caption.picture]) in sets:
            captions.setdefault(caption.language, {}).setdefault(name, []).append(caption.text)
    rows = {name: row for row, name in enumerate(pictures)}
    return Pictures(tuple(names), space(features)[[rows[name] for name in names]]), captions


def _pictograms(
    pictures: Pictures, encoder: TextEncoder, recipe: Recipe, data: Path
) -> tuple[list[str], Vectors]:
    """The code points of pictograms that are named in each language with sentences, and their vectors."""
    drawn: dict[str, list[Vectors]] = {}
    for name, vector in zip(pictures.names, pictures.vectors, strict=True):
        if is_drawing(name):
            drawn.setdefault(PurePosixPath(name).stem, []).append(vector)
    languages = _with_sentences(encoder.bundle.manifest.languages, recipe, data)
    named = {code: listed for code in languages if (listed := names_in(data, code))}
    codes = [code for code in sorted(drawn) if all(code in listed for listed in named.values())]
    codes = [code for code in codes if not is_flag(code)]
    if not codes:
        return [], np.zeros((0, encoder.dimension), np.float32)
    texts = [encoder.encode([listed[code].name for code in codes]) for listed in named.values()]
    drawings = unit(np.stack([np.mean(drawn[code], axis=0) for code in codes]))
    return codes, _mixed(drawings, np.mean(texts, axis=0))


def _with_sentences(languages: Sequence[str], recipe: Recipe, data: Path) -> Sequence[str]:
    """The languages with captions in the recipe's first set; all if that is the pictograms.

    The vectors of names in languages without sentences are hardly comparable with those of other languages.
    """
    captions = data / recipe.data.sets[0] / "captions"
    return [code for code in languages if (captions / f"{code}.tsv").is_file()] or languages


def _other_pictures(
    pictures: Pictures, captions: Captions, encoder: TextEncoder
) -> tuple[list[str], Vectors]:
    """The names and vectors (n, d) of pictures that are not pictograms.

    A vector is the mean of the picture's and of its captions'; of a held-out picture it is its own alone.
    """
    rows = [row for row, name in enumerate(pictures.names) if not is_drawing(name)]
    names = [pictures.names[row] for row in rows]
    positions = {name: position for position, name in enumerate(names)}
    sums = np.zeros((len(names), encoder.dimension), np.float32)
    for code, told in captions.items():
        if code in encoder.bundle.manifest.languages:
            owners = [positions[name] for name, texts in told.items() for _ in texts]
            vectors = encoder.encode([text for texts in told.values() for text in texts], language=code)
            np.add.at(sums, owners, vectors)
    return names, _mixed(pictures.vectors[rows], sums)


def _mixed(pictures: Vectors, texts: Vectors) -> Vectors:
    """Unit vectors halfway between pictures (n, d) and texts (n, d) of any length."""
    return unit(pictures + unit(texts))
