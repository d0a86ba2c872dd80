"""A run whose captioned pictures are streamed from shards: an epoch is a window of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from index.storage.files import replace_text
from training.data.folder import DataFolder
from training.data.picture_source import AugmentedPictures, PixelScale
from training.data.pictures import PictureCollection
from training.data.skipped import Skipped, check_pictures
from training.data.streaming.stream import Inventory, Stream, Window, take_inventory
from training.data.terms import require_open
from training.data.tokens import tokenize, train_tokenizer
from training.data.training_data import TrainingData
from training.encoders.two_branch import TwoBranch
from training.encoders.vision import load_backbone
from training.loop.distributed import Processes
from training.loop.engine import Chunk
from training.loop.model import build_model, pick_device
from training.loop.prepare import open_stream
from training.loop.run import Run
from training.loop.source import CaptionSource, sampler_of, suppliers_of
from training.loop.validation import ValidationSet


class StreamSource:
    """Batches of the windows of a stream, one window an epoch; only the current one is in memory."""

    def __init__(
        self,
        run: Run,
        stream: Stream,
        tokenizer: Tokenizer,
        scale: PixelScale,
        validation: ValidationSet,
        model: TwoBranch,
        skipped: Skipped,
    ) -> None:
        self.run, self.stream, self.tokenizer, self.scale = run, stream, tokenizer, scale
        self.validation, self.model, self.skipped = validation, model, skipped
        self.device = pick_device()

    @property
    def steps(self) -> int:
        """Batches of a full window."""
        size = self.run.recipe.optimiser.batch_size
        return max(1, round(min(self.stream.length, self.stream.inventory.samples) / size))

    def begin(self, epoch: int, processes: Processes) -> list[dict[str, Any]]:
        """Read the epoch's window. TrainingError if too many of its pictures are bad."""
        window = self.stream.window(epoch, self.run.recipe.vision.image_size)
        total = len(window.data.pictures) + len(window.skipped.names)
        window.skipped.check(total, self.run.recipe.data.bad_pictures, self.stream.folder)
        self.skipped |= window.skipped
        if processes.first:
            self.skipped.write(self.run.skipped_file)
        self._window = self._source(window)
        return (
            [{"epoch": epoch, "skipped_pictures": window.skipped.summary()}] if window.skipped.names else []
        )

    def batches(self, epoch: int, processes: Processes) -> Iterator[list[Chunk]]:
        return self._window.batches(epoch, processes)

    def summary(self) -> dict[str, Any]:
        inventory = self.stream.inventory
        return {
            "pictures": inventory.samples,
            "captions": inventory.captions,
            "skipped_pictures": self.skipped.summary(),
            "data_sha256": inventory.sha256,
        }

    def _source(self, window: Window) -> CaptionSource:
        recipe = self.run.recipe
        tokens = tokenize(self.tokenizer, [caption.text for caption in window.data.captions])
        data = TrainingData(recipe.data.languages, recipe.seed, self.tokenizer, window.data, tokens)
        return CaptionSource(
            self.run,
            data,
            sha256=self.stream.inventory.sha256,
            pictures=pixels(self.run, window, window.data.pictures, self.scale),
            sampler=sampler_of(recipe, data),
            suppliers=suppliers_of(recipe, data),
            validation=self.validation,
            model=self.model,
            device=self.device,
            skipped=self.skipped,
        )


def prepare_streamed(run: Run, data: Path) -> StreamSource:
    """Prepare a run on shards, as `training.loop.prepare.prepare` does; it is validated on its sets."""
    recipe, folder = run.recipe, DataFolder(data)
    require_open(data, recipe.data)
    inventory, tokenizer = _inventory_and_vocabulary(run, data / recipe.data.stream)
    run.bind(inventory.sha256)
    dev = folder.captions("dev", recipe.data)
    archive = folder.pictures(recipe.data, recipe.vision.image_size)
    bad = check_pictures(archive, dev.pictures, recipe.data.bad_pictures)
    dev = dev.without(bad.names)
    torch.manual_seed(recipe.seed)
    backbone = load_backbone(recipe.vision.backbone, folder.path)
    width = backbone.width(recipe.vision.image_size)
    torch.manual_seed(recipe.seed)
    model = build_model(recipe, folder.path, tokenizer.get_vocab_size(), width, backbone).to(pick_device())
    dev_pictures = pixels(run, archive, dev.pictures, backbone.scale)
    return StreamSource(
        run,
        open_stream(run, data),
        tokenizer,
        backbone.scale,
        ValidationSet(dev, tokenize(tokenizer, [c.text for c in dev.captions]), dev_pictures),
        model,
        Skipped.read(run.skipped_file) | bad if run.skipped_file.is_file() else bad,
    )


def pixels(
    run: Run, pictures: PictureCollection | Window, names: tuple[str, ...], scale: PixelScale
) -> AugmentedPictures:
    """Augmented pixels, for a tuned backbone."""
    views, threads = run.recipe.vision.views, torch.get_num_threads()
    return AugmentedPictures(pictures, names, scale, views, device=pick_device(), threads=threads)


def _inventory_and_vocabulary(run: Run, folder: Path) -> tuple[Inventory, Tokenizer]:
    """Count the shards' contents and learn the vocabulary, in one pass when the run begins."""
    recipe = run.recipe
    if run.stream_file.is_file() and run.tokenizer_file.is_file():
        return Inventory.read(run.stream_file), run.tokenizer()
    captions = _ShardCaptions(folder, recipe.data.languages)
    tokenizer = train_tokenizer(
        captions,
        recipe.tokenizer,
        sequence_token=recipe.text.reads_sequence_token,
        max_tokens=recipe.text.max_tokens,
    )
    assert captions.inventory is not None, "a tokenizer is learned from all there is"
    captions.inventory.write(run.stream_file)
    replace_text(run.tokenizer_file, tokenizer.to_str(pretty=True))
    return captions.inventory, tokenizer


class _ShardCaptions:
    """Iterates over the captions of a folder of shards; sets `inventory` at the end."""

    def __init__(self, folder: Path, languages: tuple[str, ...]) -> None:
        self.folder, self.languages = folder, languages
        self.inventory: Inventory | None = None

    def __iter__(self) -> Iterator[str]:
        self.inventory = yield from take_inventory(self.folder, self.languages)
