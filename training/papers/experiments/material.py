"""What a new language is learned from: its captions, and everything else embedded beforehand."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from index.errors import DataError
from training.data.captions import CaptionedPictures, load_split
from training.data.picture_source import PictureSource
from training.data.skipped import Skipped
from training.data.tokens import tokenize
from training.encoders.vision import load_backbone
from training.loop.model import TwoBranch, pick_device
from training.loop.prepare import (
    open_pictures,
    picture_sources,
    skipped_pictures,
    training_captions,
    visual_space,
)
from training.loop.run import Run
from training.loop.validation import embed_pictures, embed_texts

Rows = NDArray[np.int64]
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Material:
    """The captions of a run with one language more than `base`, its last.

    texts: a unit row a caption, from the model of `base`; zeros for the `new` ones, whose numbers these are.
    views: a unit row a picture, as the model of `base` sees it. whitened: a row a picture in a fixed space,
    where an objective needs it. dev: to validate on, and where its pictures come from.
    """

    data: CaptionedPictures
    languages: Rows
    pictures: Rows
    new: Rows
    texts: Vectors
    views: Vectors
    whitened: Vectors | None
    dev: CaptionedPictures
    dev_pictures: PictureSource
    skipped: Skipped


def gather(base: Run, run: Run, data: Path, model: TwoBranch) -> Material:
    """The material of `run`, embedded by `model`, that of `base`, which must have been trained on `data`."""
    old = training_captions(base, data)
    train, dev = (load_split(data, split, run.recipe.data) for split in ("train", "dev"))
    language = run.recipe.data.languages[-1]
    if language not in train.languages:
        raise DataError(
            f"no picture of split train is left for {language}: train {base.folder} with data.held_out, or "
            "add pictures that have captions in it alone"
        )
    archive = open_pictures(data, run.recipe)
    skipped = skipped_pictures(run, archive, train.pictures + dev.pictures)
    train, dev = training_captions(run, data), dev.without(skipped.names)
    archive.require(train.pictures + dev.pictures)
    backbone = load_backbone(base.recipe.vision.backbone, data)
    more = dev.pictures + tuple(name for name in train.pictures if name not in set(old.pictures))
    sources = picture_sources(base, archive, backbone, old, CaptionedPictures(more, ()))
    place = {name: row for row, name in enumerate(old.pictures + more)}
    rows = np.asarray([place[name] for name in train.pictures])
    spoken = [run.recipe.data.languages.index(caption.language) for caption in train.captions]
    languages = np.asarray(spoken, np.int64)
    return Material(
        data=train,
        languages=languages,
        pictures=np.asarray([caption.picture for caption in train.captions], np.int64),
        new=np.flatnonzero(languages == len(run.recipe.data.languages) - 1),
        texts=_old_texts(base, train, language, model),
        views=_views(model, sources, (len(old.pictures), len(more)))[rows],
        whitened=_whitened(run, sources, rows),
        dev=dev,
        dev_pictures=sources[1],
        skipped=skipped,
    )


@torch.inference_mode()
def _old_texts(base: Run, data: CaptionedPictures, new: str, model: TwoBranch) -> Vectors:
    found = np.zeros((len(data.captions), base.recipe.head.dimension), np.float32)
    known = [number for number, caption in enumerate(data.captions) if caption.language != new]
    tokens = tokenize(base.tokenizer(), [data.captions[number].text for number in known])
    found[known] = embed_texts(model, tokens, pick_device())
    return found


@torch.inference_mode()
def _views(
    model: TwoBranch, sources: tuple[PictureSource, PictureSource], counts: tuple[int, int]
) -> Vectors:
    both = zip(sources, counts, strict=True)
    return np.concatenate([embed_pictures(model, source, n, pick_device()) for source, n in both if n])


def _whitened(run: Run, sources: tuple[PictureSource, PictureSource], rows: Rows) -> Vectors | None:
    parts = [visual_space(run.recipe, sources[0], source) for source in sources]
    return None if parts[0] is None else np.concatenate([p for p in parts if p is not None])[rows]
