"""The source of a run's batches: captioned pictures in memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from index.arrays import Numbers, Vectors
from training.data.auxiliary import Batch, Supplier
from training.data.picture_source import PictureSource
from training.data.sampler import PictureSampler
from training.data.tokens import TokenIds, by_length, pad
from training.data.training_data import TrainingData
from training.encoders.two_branch import TwoBranch
from training.loop.engine import Chunk, cut
from training.loop.run import Run
from training.loop.validation import ValidationSet, embed_texts
from training.mining.rounds import Rounds
from training.recipes.recipe import Recipe

LENGTH_GROUPS = 4  # that a chunk's captions are sorted into by length, each padded to its own longest


@dataclass
class CaptionSource:
    """Captioned pictures in memory: what a run trains on, epoch by epoch, and its model."""

    run: Run
    data: TrainingData
    sha256: str
    pictures: PictureSource
    sampler: PictureSampler
    suppliers: Mapping[str, Supplier]
    validation: ValidationSet
    model: TwoBranch
    device: torch.device

    @property
    def recipe(self) -> Recipe:
        return self.run.recipe

    def begin(self, epoch: int) -> dict[str, int]:
        """Mine pseudopairs where a round begins with the epoch; returns their number by languages."""
        return self._rounds.before(epoch, self._embed) if self._rounds else {}

    def batches(self, epoch: int) -> Iterator[list[Chunk]]:
        """Yield the chunks of each batch; they depend on seed and epoch alone.

        Meanwhile the pictures of the next batch are decoded.
        """
        batches = self.sampler.batches(epoch)
        for number, captions in enumerate(batches):
            chunks = self._chunks(captions, epoch, number)
            for following in batches[number + 1 : number + 2]:
                self.pictures.expect(self.data.picture_places[following])
            yield chunks

    @cached_property
    def _rounds(self) -> Rounds | None:
        """The recipe's rounds of mining."""
        settings, data = self.recipe.mining, self.data
        if settings is None:
            return None
        file = self.run.pseudopairs_file
        return Rounds(settings, data.pseudopairs, data.mined_lines, data.tokenizer, file)

    def _embed(self, tokens: Sequence[TokenIds]) -> Vectors:
        """Embed sentences as when the encoder is used, without dropout."""
        return embed_texts(self.model.eval(), tokens, self.device)

    def _chunks(self, captions: Numbers, epoch: int, number: int) -> list[Chunk]:
        """The chunks of a batch. Random draws depend on seed, epoch, batch and first row."""
        recipe, size = self.recipe, len(captions)
        inactive = recipe.schedule.inactive(recipe.objectives, epoch)
        for supplier in self.suppliers.values():
            supplier.begin(size, epoch, number)
        chunks = []
        for part in cut(size, recipe.optimiser.chunk_size):
            draw = np.random.default_rng([recipe.seed, epoch, number, part.start])
            batch = self._batch(captions[part], part, draw, inactive)
            chunks.append(Chunk(batch, int(draw.integers(2**63))))
        return chunks

    def _batch(
        self, captions: Numbers, rows: slice, draw: np.random.Generator, inactive: frozenset[str]
    ) -> Batch:
        tokens = self.data.tokens
        captions, spans = by_length(captions, tokens, LENGTH_GROUPS)
        ids, mask = pad([tokens[i] for i in captions], self.device)
        views = self.pictures.views(self.data.picture_places[captions], draw)
        auxiliary = {
            name: supplied
            for name, supplier in self.suppliers.items()
            if (supplied := supplier.part(captions, rows, draw, self.device)) is not None
        }
        pictures = tuple(view.to(self.device) for view in views)
        return Batch(ids, mask, pictures, auxiliary, spans, inactive)
