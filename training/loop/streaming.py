"""A run whose captioned pictures are streamed from shards: an epoch is a window of them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from tokenizers import Tokenizer

from index.storage.files import replace_text
from training.data.captions import CaptionedPictures, load_split
from training.data.companions import CompanionSource
from training.data.picture_source import AugmentedPictures
from training.data.pictures import PictureArchive
from training.data.sampler import PictureSampler
from training.data.skipped import Skipped, find_bad_pictures
from training.data.stream import Inventory, Stream, Window, take_inventory
from training.data.tokens import tokenize, train_tokenizer
from training.encoders.vision import PixelScale, load_backbone
from training.loop.model import TwoBranch, pick_device
from training.loop.prepare import Prepared, open_stream
from training.loop.run import Run
from training.loop.validation import ValidationSet


@dataclass(frozen=True)
class Windows:
    """The windows of a run's stream, ready to train on."""

    run: Run
    stream: Stream
    tokenizer: Tokenizer
    scale: PixelScale

    @property
    def batches(self) -> int:
        """The most that a window gives."""
        size = self.run.recipe.optimiser.batch_size
        return max(1, round(min(self.stream.length, self.stream.inventory.samples) / size))

    def into(self, prepared: Prepared, number: int) -> tuple[Prepared, Skipped]:
        """The same with a window to train on, and what that window skips.

        TrainingError where too many of its pictures are bad.
        """
        recipe = self.run.recipe
        window = self.stream.window(number, recipe.vision.image_size)
        total = len(window.data.pictures) + len(window.skipped.names)
        window.skipped.check(total, recipe.data.bad_pictures, self.stream.folder)
        tokens = tokenize(self.tokenizer, [caption.text for caption in window.data.captions])
        optimiser = recipe.optimiser
        filled = replace(
            prepared,
            data=window.data,
            tokens=tokens,
            pictures=pixels(self.run, window, window.data.pictures, self.scale),
            sampler=PictureSampler(
                window.data, optimiser.batch_size, recipe.seed, recipe.data.language_temperature
            ),
            companions=CompanionSource(window.data, recipe.data.languages, tokens),
            skipped=prepared.skipped | window.skipped,
        )
        return filled, window.skipped


def prepare_streamed(run: Run, data: Path) -> tuple[Prepared, Windows]:
    """As `training.prepare.prepare`, with the first window to train on; validation is by photos/."""
    recipe, device = run.recipe, pick_device()
    inventory, tokenizer = _stock(run, data / recipe.data.stream)
    run.bind(inventory.sha256)
    dev = load_split(data, "dev", recipe.data)
    archive = PictureArchive(data / "photos" / "images.tar", recipe.vision.image_size)
    bad = find_bad_pictures(archive, dev.pictures)
    bad.check(len(dev.pictures), recipe.data.bad_pictures, archive.file)
    dev = dev.without(bad.names)
    torch.manual_seed(recipe.seed)
    backbone = load_backbone(recipe.vision.backbone, data)
    width = backbone.width(recipe.vision.image_size)
    torch.manual_seed(recipe.seed)
    model = TwoBranch(recipe, tokenizer.get_vocab_size(), width, backbone).to(device)
    seen = pixels(run, archive, dev.pictures, backbone.scale)
    nothing = CaptionedPictures((), ())
    empty = Prepared(
        data=nothing,
        sha256=inventory.sha256,
        tokens=[],
        pictures=seen,
        sampler=PictureSampler(dev, recipe.optimiser.batch_size, recipe.seed),
        companions=CompanionSource(nothing, recipe.data.languages, []),
        pseudopairs=None,
        halves=None,
        validation=ValidationSet(dev, tokenize(tokenizer, [c.text for c in dev.captions]), seen),
        model=model,
        device=device,
        skipped=Skipped.read(run.skipped_file) | bad if run.skipped_file.is_file() else bad,
    )
    windows = Windows(run, open_stream(run, data), tokenizer, backbone.scale)
    return windows.into(empty, 0)[0], windows


def pixels(
    run: Run, pictures: PictureArchive | Window, names: tuple[str, ...], scale: PixelScale
) -> AugmentedPictures:
    """Pictures for a backbone that is tuned."""
    views, threads = run.recipe.vision.views, torch.get_num_threads()
    return AugmentedPictures(pictures, names, scale, views, device=pick_device(), threads=threads)


def _stock(run: Run, folder: Path) -> tuple[Inventory, Tokenizer]:
    """What the shards hold and their captions' vocabulary, from one pass over them when the run begins."""
    recipe = run.recipe
    if run.stream_file.is_file() and run.tokenizer_file.is_file():
        return Inventory.read(run.stream_file), run.tokenizer()
    stock = _Stock(folder, recipe.data.languages)
    tokenizer = train_tokenizer(
        stock,
        recipe.tokenizer,
        sequence_token=recipe.text.encoder == "transformer",
        max_tokens=recipe.text.max_tokens,
    )
    assert stock.inventory is not None, "a tokenizer is learned from all there is"
    stock.inventory.write(run.stream_file)
    replace_text(run.tokenizer_file, tokenizer.to_str(pretty=True))
    return stock.inventory, tokenizer


class _Stock:
    """The captions of a folder of shards; once they have all been seen, its inventory as well."""

    def __init__(self, folder: Path, languages: tuple[str, ...]) -> None:
        self.folder, self.languages = folder, languages
        self.inventory: Inventory | None = None

    def __iter__(self) -> Iterator[str]:
        self.inventory = yield from take_inventory(self.folder, self.languages)
