"""What a batch carries beside captions and pictures, where an objective of the recipe needs it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from index.errors import DataError
from training.data.captions import CaptionedPictures
from training.data.tokens import pad


@dataclass(frozen=True)
class Companions:
    """Of N captions: languages (N,) int64, places in the recipe's list; partners, ids and mask (N, T') of
    another caption of each picture in another language; mined, ids and mask of N sentences and those of their
    mined partners; halves, the same of both halves of N sentences; whitened (N, K), each picture in a fixed
    space; neighbours, ids and mask (N, T') of another caption of each picture in whatever language, or of the
    same one where a picture has no other."""

    languages: Tensor | None = None
    partners: tuple[Tensor, Tensor] | None = None
    mined: tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]] | None = None
    halves: tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]] | None = None
    whitened: Tensor | None = None
    neighbours: tuple[Tensor, Tensor] | None = None


class CompanionSource:
    """Gives each batch its companions.

    `tokens` are those of `data`'s captions. `paired`: partners are wanted; DataError if a picture has
    captions in one language only. `whitened`: (pictures, K) unit rows, or None. `beside`: neighbours are
    wanted.
    """

    def __init__(
        self,
        data: CaptionedPictures,
        languages: Sequence[str],
        tokens: Sequence[NDArray[np.int32]],
        *,
        paired: bool = False,
        whitened: NDArray[np.float32] | None = None,
        beside: bool = False,
    ) -> None:
        place = {language: number for number, language in enumerate(languages)}
        self.languages = np.asarray([place[caption.language] for caption in data.captions], np.int64)
        self.pictures = np.asarray([caption.picture for caption in data.captions], np.int64)
        self._tokens, self._whitened = tokens, whitened
        self._others = _others(data) if paired else None
        self._neighbours = _neighbours(data) if beside else None

    def of(self, captions: NDArray[np.int64], draw: np.random.Generator, device: torch.device) -> Companions:
        """The companions of these captions; partners are drawn."""
        return Companions(
            languages=torch.from_numpy(self.languages[captions]).to(device),
            partners=self._drawn(self._others, captions, draw, device),
            whitened=self._fixed(captions, device),
            neighbours=self._drawn(self._neighbours, captions, draw, device),
        )

    def _drawn(
        self,
        choices: Sequence[Sequence[int]] | None,
        captions: NDArray[np.int64],
        draw: np.random.Generator,
        device: torch.device,
    ) -> tuple[Tensor, Tensor] | None:
        if choices is None:
            return None
        drawn = [others[int(draw.integers(len(others)))] for others in (choices[i] for i in captions)]
        return pad([self._tokens[i] for i in drawn], device)

    def _fixed(self, captions: NDArray[np.int64], device: torch.device) -> Tensor | None:
        if self._whitened is None:
            return None
        return torch.from_numpy(self._whitened[self.pictures[captions]]).to(device)


def _of_picture(data: CaptionedPictures) -> list[list[int]]:
    """Picture -> its captions."""
    found: list[list[int]] = [[] for _ in data.pictures]
    for number, caption in enumerate(data.captions):
        found[caption.picture].append(number)
    return found


def _neighbours(data: CaptionedPictures) -> list[list[int]]:
    """Caption -> the other captions of its picture, itself where there are none."""
    of_picture = _of_picture(data)
    return [
        [other for other in of_picture[caption.picture] if other != number] or [number]
        for number, caption in enumerate(data.captions)
    ]


def _others(data: CaptionedPictures) -> list[list[int]]:
    """Caption -> the captions of its picture in other languages."""
    of_picture = _of_picture(data)
    found = [
        [other for other in of_picture[caption.picture] if data.captions[other].language != caption.language]
        for caption in data.captions
    ]
    for caption, others in zip(data.captions, found, strict=True):
        if not others:
            raise DataError(
                f"objectives.paired: {data.pictures[caption.picture]} has captions in {caption.language} "
                'alone; it needs data.pictures = "shared" and captions in two languages a picture'
            )
    return found
