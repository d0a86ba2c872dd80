"""Puts the pictograms that an encoder learned from into its bundle, as vectors in the space of its texts.

They are computed from the pictures in the bundle's picture space. Names find names better than drawings do: a
pictogram is the mean of both (docs/decisions/0094).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
import torch
from numpy.typing import NDArray

from evaluation.reports.card import with_section
from evaluation.suites.pictograms import Named, is_flag, part_of, read_names
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
from index.teaching.subword_regression import Recall, places_among
from training.data.folder import DataFolder
from training.data.pictograms import is_drawing, open_artists
from training.data.picture_sets import move_onto_first_set, open_set, set_of
from training.data.settings import PICTOGRAM_SET as DRAWN
from training.data.terms import data_terms
from training.encoders.features import features_of_collection
from training.encoders.vision import load_backbone
from training.export.picture_space import open_space
from training.recipes.recipe import Recipe

SECTION_TITLE = "What it sees"
SECTION_TEMPLATE = """## {title}

`pictures.safetensors` has the vectors of {count} pictograms in the space of the texts. Half of each is the
mean of its drawings, half that of its names; their artists are among the credits below. With them are
{others} pictures of other openly licensed sets, with which a language is taught (`passepartout
learn-language`); by `picture_space.safetensors` it is taught with pictures of your own.

How well a name finds its own among the {n} pictograms of which neither drawings nor names were learned; mean
over {languages} languages, names in the language asked in left out:

| vector of a pictogram | R@1, R@10 |
|---|---|
| its drawings | {drawn} |
| its names | {named} |
| both, as written | {both} |

`passepartout pictograms BUNDLE --data DIR`

"""


@dataclass(frozen=True)
class Written:
    """What was written, and how well names find held-out pictograms.

    A pictogram is represented by its drawings (`drawn`), by its names in the other languages (`named`), or by
    both.
    """

    pictograms: int
    others: int
    held_out: int
    languages: int
    drawn: Recall
    named: Recall
    both: Recall


def write_pictograms(folder: Path, data: Path, recipe: Recipe) -> Written:
    """Add pictures.safetensors to a bundle, and how well they fit its texts to the card.

    recipe: what the bundle was trained with; data: the folder that it was trained on. Raises UsageError for a
    bundle without a picture space or a recipe without pictograms, DataError for missing files.
    """
    bundle = open_bundle(folder)
    _check(bundle, recipe)
    open_pictures = _read_open_pictures(open_space(bundle), recipe, data)
    drawings = _concepts(open_pictures)
    names = {code: _names(data, code) for code in _with_sentences(bundle.manifest.languages, recipe, data)}
    names = {code: listed for code, listed in names.items() if listed}
    codes = [code for code in sorted(drawings) if all(code in listed for listed in names.values())]
    codes = [code for code in codes if not is_flag(code)]
    encoder = TextEncoder(bundle)
    named = np.stack([encoder.encode([names[code][c].name for c in codes]) for code in names])  # (L, n, d)
    vectors = np.stack([drawings[code] for code in codes])
    held_out = np.array([part_of(code) == "test" for code in codes])
    if not held_out.any() or held_out.all():
        raise DataError(f"{data / 'pictograms'}: too few concepts have a drawing and a name in each language")
    others, other_vectors = _other_pictures(encoder, open_pictures)
    pictogram_vectors = _mixed(vectors, named.mean(axis=0))
    written = _measure(vectors, named, held_out, len(others))
    content = packed(
        [*(f"{DRAWN}/{code}" for code in codes), *others], np.concatenate([pictogram_vectors, other_vectors])
    )
    _publish(bundle, content, _section(written))
    return written


def _check(bundle: Bundle, recipe: Recipe) -> None:
    if recipe.name != bundle.manifest.recipe.name:
        raise UsageError(
            f"--recipe {recipe.name}: {bundle.folder} was trained with {bundle.manifest.recipe.name}"
        )
    if DRAWN not in recipe.data.sets:
        raise UsageError(f"recipe {recipe.name}: it learned from no pictograms ({DRAWN} in data.sets)")


def _with_sentences(languages: Sequence[str], recipe: Recipe, data: Path) -> Sequence[str]:
    """The languages with captions in the recipe's first set; all if that is the pictograms.

    The vectors of names in languages without sentences are hardly comparable with those of other languages.
    """
    captions = data / recipe.data.sets[0] / "captions"
    return [code for code in languages if (captions / f"{code}.tsv").is_file()] or languages


@dataclass(frozen=True)
class _OpenPictures:
    """Openly licensed pictures, also held-out ones, as (n, d) unit rows in the recipe's picture space.

    captions: language -> picture -> captions that were trained on.
    """

    names: Sequence[str]
    vectors: Vectors
    captions: Mapping[str, Mapping[str, Sequence[str]]]


def _read_open_pictures(space: PictureSpace, recipe: Recipe, data: Path) -> _OpenPictures:
    folder, vision = DataFolder(data), recipe.vision
    captioned = folder.captions("train", recipe.data)
    learned = captioned.pictures
    shipped = [name for name, terms in data_terms(data, recipe.data).items() if terms.open]
    sets = [name for name in recipe.data.sets if name in shipped and name != DRAWN]
    names = [name for archive in open_artists(data, 1) for name in archive.names]
    names += [name for set_name in sets for name in open_set(data, set_name, 1).names]
    learned_names = set(learned)
    pictures = (*learned, *(name for name in names if name not in learned_names))
    archive = folder.pictures(recipe.data, vision.image_size)
    archive.require(pictures)
    backbone = load_backbone(vision.backbone, data)
    threads = torch.get_num_threads()
    features = features_of_collection(backbone, archive, pictures, vision.views, threads)
    move_onto_first_set(features, pictures, len(learned))
    vectors = space(features)
    captions: dict[str, dict[str, list[str]]] = {}
    for caption in captioned.captions:
        if set_of(name := learned[caption.picture]) in sets:
            captions.setdefault(caption.language, {}).setdefault(name, []).append(caption.text)
    rows_by_name = {name: row for row, name in enumerate(pictures)}
    return _OpenPictures(names, vectors[[rows_by_name[name] for name in names]], captions)


def _concepts(pictures: _OpenPictures) -> dict[str, Vectors]:
    """Code points -> the mean of a concept's drawings."""
    concepts: dict[str, list[NDArray[np.float32]]] = {}
    for name, vector in zip(pictures.names, pictures.vectors, strict=True):
        if is_drawing(name):
            concepts.setdefault(PurePosixPath(name).stem, []).append(vector)
    return {code: unit(np.mean(drawn, axis=0)) for code, drawn in concepts.items()}


def _other_pictures(encoder: TextEncoder, pictures: _OpenPictures) -> tuple[list[str], Vectors]:
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


def _measure(drawn: Vectors, named: NDArray[np.float32], held_out: NDArray[np.bool_], others: int) -> Written:
    """Measure drawings (n, d) and names (L, n, d) on the pictograms that are `held_out` (n,)."""
    questions, drawings = named[:, held_out], drawn[held_out]
    other_names = [_mean_of_others(questions, row) for row in range(len(questions))]
    return Written(
        len(drawn),
        others,
        int(held_out.sum()),
        len(named),
        _recall(questions, [drawings] * len(questions)),
        _recall(questions, other_names),
        _recall(questions, [_mixed(drawings, names) for names in other_names]),
    )


def _mixed(pictures: Vectors, texts: NDArray[np.float32]) -> Vectors:
    """Unit vectors halfway between pictures (n, d) and texts (n, d) of any length."""
    return unit(pictures + unit(texts))


def _mean_of_others(named: NDArray[np.float32], language: int) -> Vectors:
    """The unit mean of names (L, n, d) over all languages except one."""
    return unit(named.sum(axis=0) - named[language])


def _recall(questions: NDArray[np.float32], answers: Sequence[Vectors]) -> Recall:
    """The recall of questions (L, n, d) among each language's answers (n, d), of which row i is right."""
    rows = np.arange(questions.shape[1])
    places = [places_among(*pair, rows) for pair in zip(questions, answers, strict=True)]
    return Recall.of(np.concatenate(places), len(rows))


def _names(data: Path, language: str) -> Mapping[str, Named]:
    file = data / "pictograms" / "names" / f"{language}.tsv"
    return read_names(file) if file.is_file() else {}


def _section(written: Written) -> str:
    return SECTION_TEMPLATE.format(
        title=SECTION_TITLE,
        count=written.pictograms,
        others=written.others,
        n=written.held_out,
        languages=written.languages,
        drawn=written.drawn,
        named=written.named,
        both=written.both,
    )


def _publish(bundle: Bundle, content: bytes, section: str) -> None:
    """Replace the bundle by one with these pictures and this section of the card."""
    folder = bundle.folder
    staging = staging_folder(folder, folder)
    (staging / PICTOGRAMS).unlink(missing_ok=True)
    (staging / PICTURES).write_bytes(content)
    page = bundle.card.read_text("utf-8")
    (staging / CARD).write_text(with_section(page, section, SECTION_TITLE), "utf-8")
    publish_bundle(staging, folder, bundle.manifest)
