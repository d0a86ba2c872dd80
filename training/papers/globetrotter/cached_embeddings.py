"""Batches for a new language: its captions together with everything else as a finished run embeds it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from index.errors import DataError
from training.data.auxiliary import Batch
from training.data.captions import CaptionedPictures
from training.data.folder import DataFolder
from training.data.picture_source import PictureSource
from training.data.tokens import pad, tokenize
from training.data.training_data import TrainingData
from training.encoders.two_branch import TwoBranch
from training.encoders.vision import load_backbone
from training.loop.distributed import Processes
from training.loop.engine import Chunk
from training.loop.model import pick_device
from training.loop.prepare import picture_sources, training_captions, whitened_space
from training.loop.run import Run
from training.loop.validation import ValidationSet, embed_pictures, embed_texts
from training.recipes.recipe import Recipe

Rows = NDArray[np.int64]
Vectors = NDArray[np.float32]
OLD_CAPTIONS_STREAM = 1  # keeps the draw of old captions apart from others of the same step


@dataclass(frozen=True)
class CachedEmbeddings:
    """Captions and pictures of a run that adds a language, embedded by the finished run it extends.

    texts: (captions, D) unit rows, zeros for captions of the new language, the last one. views: (pictures, D)
    unit rows. whitened: (pictures, K) rows of a fixed space, if an objective reads it. dev, dev_pictures: the
    validation set.
    """

    captions: CaptionedPictures
    texts: Vectors
    views: Vectors
    whitened: Vectors | None
    dev: CaptionedPictures
    dev_pictures: PictureSource


def embed_beforehand(base: Run, run: Run, data: Path, model: TwoBranch) -> CachedEmbeddings:
    """Embed pictures and old captions for `run` with `model`, the model of the finished run `base`.

    `data` is the folder that `base` was trained on. DataError if no picture is left for the new language.
    """
    folder, recipe = DataFolder(data), run.recipe
    old = training_captions(base, data)
    train, dev = (folder.captions(split, recipe.data) for split in ("train", "dev"))
    language = recipe.data.languages[-1]
    if language not in train.languages:
        raise DataError(
            f"no picture of split train is left for {language}: train {base.folder} with data.held_out, or "
            "add pictures that have captions in it alone"
        )
    archive = folder.pictures(recipe.data, recipe.vision.image_size)
    train = training_captions(run, data)
    archive.require(train.pictures + dev.pictures)
    backbone = load_backbone(base.recipe.vision.backbone, data)
    new_pictures = dev.pictures + tuple(name for name in train.pictures if name not in set(old.pictures))
    sources = picture_sources(base, archive, backbone, old, CaptionedPictures(new_pictures, ()))
    row_of = {name: row for row, name in enumerate(old.pictures + new_pictures)}
    rows = np.asarray([row_of[name] for name in train.pictures])
    whitened = None
    if "whitened" in recipe.inputs:
        spaces = [whitened_space(recipe, sources[0], source) for source in sources]
        whitened = np.concatenate(spaces)[rows]
    return CachedEmbeddings(
        captions=train,
        texts=_old_texts(base, train, language, model),
        views=_views(model, sources, (len(old.pictures), len(new_pictures)))[rows],
        whitened=whitened,
        dev=dev,
        dev_pictures=sources[1],
    )


@torch.inference_mode()
def _old_texts(base: Run, captions: CaptionedPictures, new: str, model: TwoBranch) -> Vectors:
    vectors = np.zeros((len(captions.captions), base.recipe.head.dimension), np.float32)
    known_captions = [number for number, caption in enumerate(captions.captions) if caption.language != new]
    tokens = tokenize(base.tokenizer(), [captions.captions[number].text for number in known_captions])
    vectors[known_captions] = embed_texts(model, tokens, pick_device())
    return vectors


@torch.inference_mode()
def _views(
    model: TwoBranch, sources: tuple[PictureSource, PictureSource], counts: tuple[int, int]
) -> Vectors:
    counted_sources = zip(sources, counts, strict=True)
    return np.concatenate(
        [embed_pictures(model, source, n, pick_device()) for source, n in counted_sources if n]
    )


class NewLanguageSource:
    """Batches of captions of the new language, each once an epoch, filled up with old, embedded captions.

    captions_a_batch: captions of the new language in a batch of the recipe's size.
    """

    def __init__(
        self,
        recipe: Recipe,
        data: TrainingData,
        cached: CachedEmbeddings,
        model: TwoBranch,
        sha256: str,
        captions_a_batch: int,
    ) -> None:
        self.recipe, self.data, self.cached, self.model = recipe, data, cached, model
        self.sha256, self.captions_a_batch = sha256, captions_a_batch
        self.device = pick_device()
        is_new = data.language_places == len(data.languages) - 1
        self.new, self.old = np.flatnonzero(is_new), np.flatnonzero(~is_new)
        dev = tokenize(data.tokenizer, [caption.text for caption in cached.dev.captions])
        self.validation = ValidationSet(cached.dev, dev, cached.dev_pictures)

    @property
    def steps(self) -> int:
        return len(list(self._new_captions(0)))

    def begin(self, epoch: int, processes: Processes) -> list[dict[str, Any]]:
        return []

    def batches(self, epoch: int, processes: Processes) -> Iterator[list[Chunk]]:
        """Yield one chunk a batch: only the new captions need a graph, so memory is no concern."""
        for number, new in enumerate(self._new_captions(epoch)):
            draw = np.random.default_rng([self.recipe.seed, epoch, number, OLD_CAPTIONS_STREAM])
            batch = self._batch(new, self._old_captions(new, draw))
            yield [Chunk(batch, int(draw.integers(2**63)))]

    def summary(self) -> dict[str, Any]:
        return {
            "pictures": len(self.cached.captions.pictures),
            "captions": len(self.cached.captions.captions),
            "data_sha256": self.sha256,
        }

    def _new_captions(self, epoch: int) -> Iterator[Rows]:
        """Yield the numbers of the new captions in batches; no batch has a picture twice."""
        draw = np.random.default_rng([self.recipe.seed, epoch])
        order = draw.permutation(self.new)
        owners = self.data.picture_places[order]
        turn = np.empty(len(order), np.int64)
        for picture in np.unique(owners):
            captions = np.flatnonzero(owners == picture)
            turn[captions] = np.arange(len(captions))
        for number in range(int(turn.max()) + 1):
            rows = order[turn == number]
            yield from np.array_split(rows, max(1, round(len(rows) / self.captions_a_batch)))

    def _old_captions(self, new: Rows, draw: np.random.Generator) -> Rows:
        """Draw old captions to fill the batch, of pictures that are not in it yet."""
        pictures = self.data.picture_places
        order = draw.permutation(self.old[~np.isin(pictures[self.old], pictures[new])])
        _, first = np.unique(pictures[order], return_index=True)
        return order[np.sort(first)][: max(0, self.recipe.optimiser.batch_size - len(new))]

    def _batch(self, new: Rows, old: Rows) -> Batch:
        ids, mask = pad([self.data.tokens[i] for i in new], self.device)
        pictures = self.data.picture_places[np.concatenate([new, old])]
        cached = {"text": self.cached.texts[old], "views": self.cached.views[pictures]}
        if self.cached.whitened is not None:
            cached["whitened"] = self.cached.whitened[pictures]
        rows = {name: (torch.from_numpy(vectors).to(self.device),) for name, vectors in cached.items()}
        return Batch(ids, mask, (), cached=rows)
