"""Frozen encoders, opened from a training run or a bundle, and the sentences to encode with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from evaluation.suites.sets import available, line_up, read_captions, read_split
from index.encoder.bundle import open_bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import DataError
from index.storage.manifest import MANIFEST_NAME
from index.text.normalisation import bare, clean
from training.data.folder import require_sets
from training.data.tokens import tokenize
from training.encoders.two_branch import TwoBranch
from training.loop.model import load_model
from training.loop.run import open_run
from training.loop.validation import embed_texts

Vectors = NDArray[np.float32]


class Frozen(Protocol):
    """An encoder that is not trained any further."""

    @property
    def name(self) -> str: ...

    @property
    def languages(self) -> tuple[str, ...]: ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Sentences -> (n, d) unit rows."""


@dataclass(frozen=True)
class RunEncoder:
    """A training run's model and tokenizer as a frozen encoder."""

    name: str
    languages: tuple[str, ...]
    model: TwoBranch
    tokenizer: Tokenizer

    @torch.inference_mode()
    def encode(self, texts: Sequence[str]) -> Vectors:
        read = [bare(clean(text)) for text in texts]  # as a bundle reads them
        return embed_texts(self.model, tokenize(self.tokenizer, read), torch.device("cpu"))


class _Bundled:
    def __init__(self, folder: Path) -> None:
        bundle = open_bundle(folder)
        self.name, self.languages = bundle.name, bundle.manifest.languages
        self._encoder = TextEncoder(bundle)

    def encode(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode(texts)


def open_model(folder: Path, data: Path) -> RunEncoder:
    """Open the encoder of a finished run. UsageError if there is none."""
    run = open_run(folder)
    run.result()
    require_sets(data, ("photos",))
    return RunEncoder(run.recipe.name, run.recipe.data.languages, load_model(run, data), run.tokenizer())


def open_frozen(folder: Path, data: Path) -> Frozen:
    """Open the encoder of a bundle or of a finished run."""
    return _Bundled(folder) if (folder / MANIFEST_NAME).is_file() else open_model(folder, data)


def photo_captions(
    data: Path, split: str, languages: Sequence[str], limit: int | None = None
) -> dict[str, list[str]]:
    """Read language -> captions of a split, row i about the same picture, for languages that have a file.

    Raises DataError where fewer than two do, or no picture has a caption in each.
    """
    folder = data / "photos"
    codes = available(folder / "captions", ".tsv", languages, ())
    captions = {code: read_captions(folder / "captions" / f"{code}.tsv") for code in codes}
    lines = line_up(captions, read_split(folder / "splits.tsv", split), limit=limit)
    if not lines[codes[0]]:
        raise DataError(f"{folder}: no picture of split {split} has a caption in each of {', '.join(codes)}")
    return lines


def encoded(encoder: Frozen, texts: Mapping[str, Sequence[str]]) -> dict[str, Vectors]:
    """Encode language -> n sentences to language -> (n, d) unit rows."""
    return {code: encoder.encode(lines) for code, lines in texts.items()}
