"""BuildJob: what the stages of a build share. They are run in order by build_index.py."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder


@dataclass(frozen=True)
class BuildJob:
    """A running build, on `threads` cores.

    Files to publish are in `work`; `parts` has the vectors from which a killed build goes on.
    """

    work: Path
    parts: Path
    bundle: Bundle
    encoder: TextEncoder
    threads: int = 1

    def path(self, name: str) -> Path:
        """The path of a file to publish."""
        return self.work / name

    def part(self, name: str) -> Path:
        """The path of a file that is not published."""
        return self.parts / name


def save_array(path: Path, values: NDArray[Any]) -> None:
    """Write an array to `path`, whatever its extension."""
    with path.open("wb") as file:
        np.save(file, values, allow_pickle=False)
