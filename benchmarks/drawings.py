"""In which space of pictures do drawings meet each other, and the photographs of what they show?

python -m benchmarks.drawings --data DIR [--recipe globetrotter-small] [--artists noto,twemoji] [--views 2]

Concepts are those whose English name is a word in captions of FEW or more training photographs, then others
up to CONCEPTS. A drawing looks for the other artist's drawing of its concept among all of them; and for the
mean of the photographs whose captions have its name, among those of all names.
"""

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from evaluation.measures.recall import recall_at
from evaluation.suites.pictograms import is_flag, read_names
from index.text.normalisation import words
from index.unit import unit
from training.data.captions import load_split
from training.data.features import features_of_collection
from training.data.pictograms import move_onto_photographs
from training.data.pictures import PictureArchive, PictureCollection
from training.data.whitening import fit_whitening
from training.encoders.vision import load_backbone
from training.recipes.recipe import Recipe, load_recipe

FEW, CONCEPTS = 5, 350
Rows = NDArray[np.float32]
Space = Callable[[Rows], Rows]


@click.command()
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--recipe", "name", default="globetrotter-small", show_default=True)
@click.option("--artists", default="noto,twemoji", show_default=True)
@click.option("--views", default=2, show_default=True)
def main(data: Path, name: str, artists: str, views: int) -> None:
    """Print one JSON object: space -> recalls in per cent, mean of both directions; and what chance finds."""
    recipe = load_recipe(name, ['data.pictures="shared"', 'data.languages=["en"]'])
    photographs, named = named_photographs(data, recipe)
    called = {code: found.name.lower() for code, found in read_names(_names(data)).items()}
    codes = sorted(called, key=lambda code: (called[code] not in named, is_flag(code), code))[:CONCEPTS]
    drawn = [f"{artist}/{code}.png" for artist in artists.split(",") for code in codes]
    files = [data / "pictograms" / f"{artist}.tar" for artist in artists.split(",")]
    size = recipe.vision.image_size
    archives = [PictureArchive(file, size, f"{file.stem}/") for file in files]
    pictures = PictureCollection([PictureArchive(data / "photos" / "images.tar", size), *archives])
    names, backbone = [*photographs, *drawn], load_backbone(recipe.vision.backbone, data)
    plain = features_of_collection(backbone, pictures, names, views, 1)
    moved = plain.copy()
    move_onto_photographs(moved, names, len(names))
    shown = [named[called[code]] for code in codes if called[code] in named]
    found = {
        "each source its own": recalls(plain, shown, len(photographs), recipe, apart=True),
        "together": recalls(plain, shown, len(photographs), recipe),
        "together, one mean": recalls(moved, shown, len(photographs), recipe),
        "chance": {f"{kind}_r{k}": 100 * k / n for kind, n in _sizes(codes, shown) for k in (1, 10)},
    }
    click.echo(json.dumps({key: {k: round(v, 1) for k, v in value.items()} for key, value in found.items()}))


def named_photographs(data: Path, recipe: Recipe) -> tuple[tuple[str, ...], dict[str, list[int]]]:
    """The training photographs, and word -> those with it in a caption, FEW or more."""
    train = load_split(data, "train", recipe.data)
    found: dict[str, set[int]] = defaultdict(set)
    for caption in train.captions:
        for word in words(caption.text, "en"):
            found[word.lower()].add(caption.picture)
    return train.pictures, {word: sorted(rows) for word, rows in found.items() if len(rows) >= FEW}


def recalls(
    features: Rows, shown: list[list[int]], count: int, recipe: Recipe, *, apart: bool = False
) -> dict[str, float]:
    """Recalls among (V, count photographs, then the drawings of one artist and the other, F) features."""
    photographs, drawings = (
        features[:, rows].reshape(-1, features.shape[-1]) for rows in (slice(count), slice(count, None))
    )
    sample = photographs[np.random.default_rng(0).permutation(len(photographs))[: len(drawings)]]
    spaces = [_fit(part, recipe) for part in (photographs, drawings)]
    if not apart:
        spaces = [_fit(np.concatenate([sample, drawings]), recipe)] * 2
    seen, drawn = spaces[0](features[:, :count]), spaces[1](features[:, count:])
    one, other = np.split(unit(drawn.mean(axis=0)), 2)
    photos = seen.mean(axis=0)
    means = unit(np.stack([photos[rows].mean(axis=0) for rows in shown]) - photos.mean(axis=0))
    sides = {"artists": [(one, other)], "photographs": [(part[: len(shown)], means) for part in (one, other)]}
    return {
        f"{kind}_r{k}": float(np.mean([recall_at(s)[k] for a, b in pairs for s in (a @ b.T, b @ a.T)]))
        for kind, pairs in sides.items()
        for k in (1, 10)
    }


def _fit(rows: Rows, recipe: Recipe) -> Space:
    return fit_whitening(rows, recipe.head.dimension, recipe.vision.whitening, recipe.seed)


def _names(data: Path) -> Path:
    return data / "pictograms" / "names" / "en.tsv"


def _sizes(codes: list[str], shown: list[list[int]]) -> list[tuple[str, int]]:
    return [("artists", len(codes)), ("photographs", len(shown))]


if __name__ == "__main__":
    main()
