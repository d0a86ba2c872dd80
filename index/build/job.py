"""Job: what the stages of a build share (folders, encoder, cores), and the atomic writing of their files.

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
    """Where texts are encoded: in processes of this machine, or on a Ray cluster.

    `address` of a Ray cluster: HOST:PORT, ray://HOST:PORT or auto; None starts one on this machine.
    """

    kind: Literal["local", "ray"] = "local"
    address: str | None = None


LOCAL_ENGINE = Engine()


@dataclass(frozen=True)
class Job:
    """A running build: `threads` cores, `batch_size` sentences encoded at a time.

    Files to publish are in `work`; intermediate files, needed only to resume a killed build, are in `parts`.
    """

    work: Path
    parts: Path
    bundle: Bundle
    encoder: TextEncoder
    threads: int = 1
    batch_size: int = 64

    def path(self, name: str) -> Path:
        """The path of a file to publish."""
        return self.work / name

    def part(self, name: str) -> Path:
        """The path of an intermediate file."""
        return self.parts / name


@contextmanager
def making(path: Path) -> Iterator[Path]:
    """Yield a path to write to; afterwards its content is flushed and replaces `path` atomically."""
    draft = path.with_name(f".{path.name}")
    yield draft
    fsync(draft)
    draft.replace(path)
    fsync(path.parent)


def save_array(path: Path, values: NDArray[np.float32]) -> None:
    """Write an array to `path` atomically, whatever its extension."""
    # Through a file object, since numpy would add .npy to the name of the draft.
    with making(path) as draft, draft.open("wb") as file:
        np.save(file, values, allow_pickle=False)
