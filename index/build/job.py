"""What every stage of a build shares: the work folder, the encoder, the cores; files that are made at once.

The stages, in order: reading.py, shards.py, vectors.py, lexicon.py; build_index.py runs them and publishes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.storage.files import fsync


@dataclass(frozen=True)
class Engine:
    """What encodes: processes of this machine, or a Ray cluster.

    `address` of a Ray cluster, HOST:PORT, ray://HOST:PORT or auto; None: start one on this machine.
    """

    kind: Literal["local", "ray"] = "local"
    address: str | None = None


LOCAL = Engine()


@dataclass(frozen=True)
class Job:
    """A build at work: `threads` cores, `batch_size` sentences encoded at a time.

    What is published goes to `work`, what a killed build goes on from and is then removed to `parts`.
    """

    work: Path
    parts: Path
    bundle: Bundle
    encoder: TextEncoder
    threads: int = 1
    batch_size: int = 64

    def path(self, name: str) -> Path:
        return self.work / name

    def part(self, name: str) -> Path:
        return self.parts / name


@contextmanager
def making(path: Path) -> Iterator[Path]:
    """Give a path to write to; what is there afterwards is flushed and takes the place of `path` at once."""
    draft = path.with_name(f".{path.name}")
    yield draft
    fsync(draft)
    draft.replace(path)
    fsync(path.parent)


def save_array(path: Path, values: NDArray[np.float32]) -> None:
    """Write an array as `path`, whatever its extension, at once."""
    # Through a file object, since numpy would add .npy to the name of a draft.
    with making(path) as draft, draft.open("wb") as file:
        np.save(file, values, allow_pickle=False)
