"""Mined pairs of sentences, as batches."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file
from torch import Tensor

from index.errors import DamagedError
from training.data.tokens import pad

Tokens = tuple[Tensor, Tensor]  # ids and mask
Pairs = NDArray[np.int64]
EVENNESS = 0.75  # 0 would draw any two languages as often as any others, 1 any pair as often as any other


class PseudopairSource:
    """The sentences that may be paired, as token ids by language, and the pairs found last.

    A batch mixes the pairs of all languages, so that the negatives of a sentence are in all of them, its own
    among them. Two languages are drawn in proportion to the number of their pairs to the power of 3/4: those
    that have few are drawn more often than these are. It depends on seed, epoch and number alone.
    """

    def __init__(self, tokens: Mapping[str, list[NDArray[np.int32]]], seed: int) -> None:
        self.tokens = tokens
        self.seed = seed
        self.pairs: Mapping[tuple[str, str], Pairs] = {}
        self.file: Path | None = None  # where they are kept

    def batch(self, size: int, epoch: int, number: int) -> "PairBatch | None":
        """`size` pairs, some perhaps twice; None where there are none."""
        languages = sorted(self.pairs)
        weights = np.asarray([len(self.pairs[key]) for key in languages]) ** EVENNESS
        if not weights.sum():
            return None
        draw = np.random.default_rng([self.seed, epoch, number, 1])
        sentences: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
        for drawn in draw.choice(len(languages), size, p=weights / weights.sum()):
            one, other = languages[int(drawn)]
            rows = self.pairs[one, other]
            i, j = rows[int(draw.integers(len(rows)))]
            sentences.append((self.tokens[one][i], self.tokens[other][j]))
        return PairBatch([one for one, _ in sentences], [other for _, other in sentences])

    def write(self, file: Path) -> None:
        """Keep the pairs, a tensor (m, 2) for each two languages."""
        part = file.with_suffix(".part")
        save_file({f"{one} {other}": rows for (one, other), rows in self.pairs.items()}, part)
        part.replace(file)
        self.file = file

    def read(self, file: Path) -> None:
        """Take up the pairs that a round has written. DamagedError if they can't be read."""
        try:
            found = load_file(file)
        except (OSError, SafetensorError) as error:
            raise DamagedError(f"{file} can't be read ({error}): train again into another folder") from None
        self.file = file
        self.pairs = {(key.split()[0], key.split()[1]): found[key] for key in found}


class PairBatch:
    """Sentences and their partners, as token ids."""

    def __init__(self, one: list[NDArray[np.int32]], other: list[NDArray[np.int32]]) -> None:
        self.one, self.other = one, other

    def part(self, rows: slice, device: torch.device) -> tuple[Tokens, Tokens]:
        """Ids and mask of some rows, and those of their partners."""
        return pad(self.one[rows], device), pad(self.other[rows], device)
