"""Puts the pictograms that an encoder learned from into its bundle, as vectors in the space of its texts.

With them goes the picture space itself, so that other pictures can be looked at.

The picture space of the shipped recipes is fixed, not learned: features of a frozen backbone, whitened over
the training pictures (training/data/whitening.py). It can be computed again from the data alone, and is
turned onto the bundle's texts (orthogonal Procrustes), since principal axes have no sign. Names find names
better than drawings do: a pictogram is the mean of both (docs/decisions/0094).
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
    PICTURE_SPACE,
    PICTURES,
    Bundle,
    open_bundle,
    publish_bundle,
    staging_folder,
)
from index.encoder.picture_space import PictureSpace, Seen
from index.encoder.pictures import packed
from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import Vectors, unit
from index.errors import DataError, UsageError
from index.teaching.lesson import Recall, places_among
from training.data.folder import DataFolder
from training.data.pictograms import is_drawing, open_artists
from training.data.picture_sets import move_onto_first_set, open_set, set_of
from training.data.settings import PICTOGRAMS as DRAWN
from training.data.terms import data_terms
from training.data.whitening import Whitening, fit_whitening
from training.encoders.features import FeatureExtractor, features_of_collection
from training.encoders.vision import load_backbone
from training.export.picture_space import probe
from training.recipes.recipe import Recipe

TITLE = "What it sees"
SECTION = """## {title}

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
    """What was written, and how well names find pictograms that were held out: by their drawings, by their
    names in the other languages, and by both."""

    pictograms: int
    others: int
    held_out: int
    languages: int
    drawn: Recall
    named: Recall
    both: Recall


def write_pictograms(folder: Path, data: Path, recipe: Recipe) -> Written:
    """Write pictures.safetensors and picture_space.safetensors into the bundle in `folder`, and what was
    measured into its card.

    recipe: what the bundle was trained with; data: the folder that it was trained on. Raises UsageError for a
    recipe whose picture space is learned or has no pictograms, DataError for missing files.
    """
    bundle = open_bundle(folder)
    _check(bundle, recipe)
    seen = _seen(recipe, data)
    drawings = _concepts(seen)
    names = {code: _names(data, code) for code in _with_sentences(bundle.manifest.languages, recipe, data)}
    names = {code: listed for code, listed in names.items() if listed}
    codes = [code for code in sorted(drawings) if all(code in listed for listed in names.values())]
    codes = [code for code in codes if not is_flag(code)]
    encoder = TextEncoder(bundle)
    named = np.stack([encoder.encode([names[code][c].name for c in codes]) for code in names])  # (L, n, d)
    vectors = np.stack([drawings[code] for code in codes])
    learned = np.array([part_of(code) == "train" for code in codes])
    if not learned.any() or learned.all():
        raise DataError(f"{data / 'pictograms'}: too few concepts have a drawing and a name in each language")
    turn = _turn(vectors[learned], named[:, learned].mean(axis=0))
    vectors = unit(vectors @ turn)
    others, of_others = _others_said(encoder, seen, turn)
    shown = _both(vectors, named.mean(axis=0))
    written = _measure(vectors, named, np.array([part_of(code) == "test" for code in codes]), len(others))
    content = packed([*(f"{DRAWN}/{code}" for code in codes), *others], np.concatenate([shown, of_others]))
    _publish(bundle, content, _space(seen, turn, recipe), _section(written))
    return written


def _check(bundle: Bundle, recipe: Recipe) -> None:
    if recipe.name != bundle.manifest.recipe.name:
        raise UsageError(
            f"--recipe {recipe.name}: {bundle.folder} was trained with {bundle.manifest.recipe.name}"
        )
    if recipe.vision.space != "whitened" or DRAWN not in recipe.data.sets:
        raise UsageError(
            f"recipe {recipe.name}: only one with {DRAWN} in data.sets and vision.space = whitened has "
            "pictograms whose vectors can be computed from the data"
        )


def _with_sentences(languages: Sequence[str], recipe: Recipe, data: Path) -> Sequence[str]:
    """The languages of the first set, near which names in other languages hardly lie; all of them where that
    is the pictograms."""
    captions = data / recipe.data.sets[0] / "captions"
    return [code for code in languages if (captions / f"{code}.tsv").is_file()] or languages


@dataclass(frozen=True)
class _Seen:
    """Openly licensed pictures in the recipe's picture space, (n, d) unit rows, held-out ones too, and what
    was learned of them: language -> captions by picture; `probe` (F,) is how the backbone is known again."""

    names: Sequence[str]
    vectors: Vectors
    whitening: Whitening
    probe: NDArray[np.float32]
    captions: Mapping[str, Mapping[str, Sequence[str]]]


def _seen(recipe: Recipe, data: Path) -> _Seen:
    folder, vision = DataFolder(data), recipe.vision
    captioned = folder.captions("train", recipe.data)
    learned = captioned.pictures
    shipped = [name for name, terms in data_terms(data, recipe.data).items() if terms.open]
    sets = [name for name in recipe.data.sets if name in shipped and name != DRAWN]
    every = [name for archive in open_artists(data, 1) for name in archive.names]
    every += [name for one in sets for name in open_set(data, one, 1).names]
    known = set(learned)
    pictures = (*learned, *(name for name in every if name not in known))
    archive = folder.pictures(recipe.data, vision.image_size)
    archive.require(pictures)
    backbone = load_backbone(vision.backbone, data)
    threads = torch.get_num_threads()
    features = features_of_collection(backbone, archive, pictures, vision.views, threads)
    move_onto_first_set(features, pictures, len(learned))
    rows = features[:, : len(learned)].reshape(-1, features.shape[-1])
    whitening = fit_whitening(rows, recipe.head.dimension, vision.whitening, recipe.seed)
    vectors = unit(whitening(features).mean(axis=0))
    said: dict[str, dict[str, list[str]]] = {}
    for caption in captioned.captions:
        if set_of(name := learned[caption.picture]) in sets:
            said.setdefault(caption.language, {}).setdefault(name, []).append(caption.text)
    places = {name: place for place, name in enumerate(pictures)}
    waves = probe(FeatureExtractor(backbone, vision.image_size, threads), vision.image_size)
    return _Seen(every, vectors[[places[name] for name in every]], whitening, waves, said)


def _space(seen: _Seen, turn: NDArray[np.float32], recipe: Recipe) -> PictureSpace:
    """The recipe's picture space, turned onto the texts."""
    named = recipe.vision.backbone
    backbone = (named,) if isinstance(named, str) else named
    looked = Seen(backbone=backbone, image_size=recipe.vision.image_size, views=recipe.vision.views)
    return PictureSpace(looked, seen.whitening.mean, seen.whitening.projection @ turn, seen.probe)


def _concepts(seen: _Seen) -> dict[str, Vectors]:
    """Code points -> the mean of a concept's drawings."""
    concepts: dict[str, list[NDArray[np.float32]]] = {}
    for name, vector in zip(seen.names, seen.vectors, strict=True):
        if is_drawing(name):
            concepts.setdefault(PurePosixPath(name).stem, []).append(vector)
    return {code: unit(np.mean(drawn, axis=0)) for code, drawn in concepts.items()}


def _others_said(encoder: TextEncoder, seen: _Seen, turn: NDArray[np.float32]) -> tuple[list[str], Vectors]:
    """The pictures of the other sets, (n, d): half as they look, half what was learned that is said of them;
    a picture whose captions were held out as it looks alone."""
    rows = [row for row, name in enumerate(seen.names) if not is_drawing(name)]
    names = [seen.names[row] for row in rows]
    places = {name: place for place, name in enumerate(names)}
    texts = np.zeros((len(names), encoder.dimension), np.float32)
    for code, captions in seen.captions.items():
        if code in encoder.bundle.manifest.languages:
            of = [places[name] for name, said in captions.items() for _ in said]
            vectors = encoder.encode([text for said in captions.values() for text in said], language=code)
            np.add.at(texts, of, vectors)
    return names, _both(unit(seen.vectors[rows] @ turn), texts)


def _turn(pictures: Vectors, texts: Vectors) -> NDArray[np.float32]:
    """The orthogonal (d, d) that turns pictures (n, d) onto texts (n, d)."""
    left, _, right = np.linalg.svd(pictures.T.astype(np.float64) @ texts)
    return np.asarray(left @ right, np.float32)


def _measure(drawn: Vectors, named: NDArray[np.float32], held_out: NDArray[np.bool_], others: int) -> Written:
    """drawn (n, d), named (L, n, d), held_out (n,)."""
    asked, drawings = named[:, held_out], drawn[held_out]
    without = [_others(asked, row) for row in range(len(asked))]
    return Written(
        len(drawn),
        others,
        int(held_out.sum()),
        len(named),
        _recall(asked, [drawings] * len(asked)),
        _recall(asked, without),
        _recall(asked, [_both(drawings, names) for names in without]),
    )


def _both(drawn: Vectors, names: NDArray[np.float32]) -> Vectors:
    return unit(drawn + unit(names))


def _others(named: NDArray[np.float32], row: int) -> Vectors:
    """The mean over all languages but one of (L, n, d)."""
    return unit(named.sum(axis=0) - named[row])


def _recall(asked: NDArray[np.float32], answers: Sequence[Vectors]) -> Recall:
    """Questions (L, n, d), for each language its answers (n, d): line i answers line i."""
    rows = np.arange(asked.shape[1])
    places = [places_among(*texts, rows) for texts in zip(asked, answers, strict=True)]
    return Recall.of(np.concatenate(places), len(rows))


def _names(data: Path, language: str) -> Mapping[str, Named]:
    file = data / "pictograms" / "names" / f"{language}.tsv"
    return read_names(file) if file.is_file() else {}


def _section(written: Written) -> str:
    return SECTION.format(
        title=TITLE,
        count=written.pictograms,
        others=written.others,
        n=written.held_out,
        languages=written.languages,
        drawn=written.drawn,
        named=written.named,
        both=written.both,
    )


def _publish(bundle: Bundle, content: bytes, space: PictureSpace, section: str) -> None:
    """The bundle with these pictures, this space and section, in its place."""
    folder = bundle.folder
    staging = staging_folder(folder, folder)
    (staging / PICTOGRAMS).unlink(missing_ok=True)
    (staging / PICTURES).write_bytes(content)
    (staging / PICTURE_SPACE).write_bytes(space.packed())
    page = bundle.card.read_text("utf-8")
    (staging / CARD).write_text(with_section(page, section, TITLE), "utf-8")
    publish_bundle(staging, folder, bundle.manifest)
