"""Streams captioned pictures from shards, a window in memory at a time."""

import hashlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from index.errors import DamagedError, DataError, UsageError
from index.progress import Progress
from index.storage.files import replace_text
from training.data.captions import Caption, CaptionedPictures
from training.data.pictures import decode
from training.data.skipped import Skipped
from training.data.streaming.shards import Sample, find_shards, read_shard


class Shard(BaseModel):
    """A shard's name, its size in bytes, and its samples with captions in the recipe's languages."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    size: int
    samples: int


class Inventory(BaseModel):
    """The contents of a folder of shards; `sha256` is of names, languages and captions, in order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    shards: tuple[Shard, ...]
    captions: int
    sha256: str

    @property
    def samples(self) -> int:
        return sum(shard.samples for shard in self.shards)

    @classmethod
    def read(cls, file: Path) -> "Inventory":
        try:
            return cls.model_validate_json(file.read_bytes())
        except (OSError, ValidationError):
            raise DamagedError(f"{file} can't be read; train into another folder") from None

    def write(self, file: Path) -> None:
        replace_text(file, self.model_dump_json(indent=1) + "\n")

    def check(self, folder: Path) -> None:
        """UsageError unless the folder still holds these shards."""
        present = [(file.name, file.stat().st_size) for file in find_shards(folder)]
        if present != [(shard.name, shard.size) for shard in self.shards]:
            raise UsageError(f"{folder} contains other shards than the run began with; use another --out")


def take_inventory(folder: Path, languages: Sequence[str]) -> Generator[str, None, Inventory]:
    """Yield every caption of a folder, without reading pictures, and return the inventory.

    DataError if a language has no caption.
    """
    digest, shards, captions, captioned = hashlib.sha256(), [], 0, set[str]()
    files = find_shards(folder)
    with Progress(len(files), unit="shards", label="count captions") as bar:
        for file in files:
            count = 0
            for sample in read_shard(file, languages, pictures=False):
                count += 1
                for language, text in _rows(sample):
                    digest.update(f"{sample.name}\t{language}\t{text}\n".encode())
                    captioned.add(language)
                    captions += 1
                    yield text
            shards.append(Shard(name=file.name, size=file.stat().st_size, samples=count))
            bar.advance()
    if without := sorted(set(languages) - captioned):
        raise DataError(f"{folder}: no caption in {', '.join(without)}")
    return Inventory(shards=tuple(shards), captions=captions, sha256=digest.hexdigest())


def _rows(sample: Sample) -> Iterator[tuple[str, str]]:
    return ((language, text) for language, texts in sample.captions.items() for text in texts)


@dataclass(frozen=True)
class Window:
    """A part of a stream in memory: captions and, by name, encoded pictures.

    size: the side in pixels that pictures are decoded to.
    """

    data: CaptionedPictures
    encoded: dict[str, bytes]
    size: int
    skipped: Skipped

    def __getitem__(self, name: str) -> NDArray[np.uint8]:
        return decode(self.encoded[name], self.size)


@dataclass(frozen=True)
class Stream:
    """Divides a folder of shards into windows of `length` samples; a pass leaves out an incomplete last one.

    Every pass takes the shards in another order; the sampler that draws batches shuffles a window's samples.
    Window n depends on the seed and n alone, and shards before it are not read, so that a run can be resumed.
    """

    folder: Path
    inventory: Inventory
    languages: tuple[str, ...]
    length: int
    seed: int

    @property
    def windows(self) -> int:
        """Windows in one pass over the shards."""
        return max(1, self.inventory.samples // self.length)

    def samples(self, number: int) -> Iterator[Sample]:
        """The samples of a window."""
        pass_number, position = divmod(number, self.windows)
        order = np.random.default_rng([self.seed, pass_number]).permutation(len(self.inventory.shards))
        skip, remaining = position * self.length, self.length
        for shard in (self.inventory.shards[i] for i in order):
            count = min(remaining, shard.samples - skip)
            if count > 0:
                yield from islice(read_shard(self.folder / shard.name, self.languages), skip, skip + count)
                remaining -= count
            skip = max(0, skip - shard.samples)

    def window(self, number: int, size: int) -> Window:
        """Read a window, without its bad pictures; the others are decoded to `size` pixels on access."""
        captions: dict[str, dict[str, list[str]]] = {}
        encoded: dict[str, bytes] = {}
        for sample in self.samples(number):
            if sample.picture is not None:
                encoded.setdefault(sample.name, sample.picture)
            sample_captions = captions.setdefault(sample.name, {})
            for language, text in _rows(sample):
                sample_captions.setdefault(language, []).append(text)
        missing = tuple(name for name in captions if name not in encoded)
        undecodable = tuple(name for name, raw in encoded.items() if not _sound(raw, size))
        skipped = Skipped(missing=missing, undecodable=undecodable)
        usable = _captioned(captions).without(skipped.names)
        return Window(usable, {name: encoded[name] for name in usable.pictures}, size, skipped)


def _captioned(captions: dict[str, dict[str, list[str]]]) -> CaptionedPictures:
    rows = [
        Caption(number, language, text)
        for number, languages in enumerate(captions.values())
        for language, texts in languages.items()
        for text in texts
    ]
    return CaptionedPictures(tuple(captions), tuple(rows))


def _sound(raw: bytes, size: int) -> bool:
    try:
        decode(raw, size)
    except DataError:
        return False
    return True
