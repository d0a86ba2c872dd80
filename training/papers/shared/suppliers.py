"""Inputs of batches that several papers' objectives read: other captions of a picture, and languages."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from index.arrays import Numbers
from index.errors import DataError
from training.data.auxiliary import SUPPLIERS, Supplier
from training.data.captions import CaptionedPictures
from training.data.tokens import Padded, TokenIds, pad
from training.data.training_data import TrainingData
from training.objectives.base import Tables


def language_places(data: TrainingData) -> Numbers:
    """The number of each caption's language among the recipe's."""
    place_of = {language: number for number, language in enumerate(data.languages)}
    return np.asarray([place_of[caption.language] for caption in data.captions.captions], np.int64)


class LanguageNumbers(Supplier):
    """Supplies the number of each caption's language among the recipe's."""

    def __init__(self, data: TrainingData) -> None:
        self.places = language_places(data)

    def part(self, captions: Numbers, rows: slice, draw: np.random.Generator, device: torch.device) -> Tensor:
        """(N, 1)."""
        return torch.from_numpy(self.places[captions, None]).to(device)


class DrawnCaptions(Supplier):
    """Supplies another caption for each caption, drawn from `choices[caption]` (numbers) every time."""

    def __init__(self, choices: Sequence[Sequence[int]], tokens: Sequence[TokenIds]) -> None:
        self.choices, self.tokens = choices, tokens

    def part(
        self, captions: Numbers, rows: slice, draw: np.random.Generator, device: torch.device
    ) -> tuple[Padded]:
        """Ids and mask (N, T) of the drawn captions."""
        options = (self.choices[caption] for caption in captions)
        drawn = [others[int(draw.integers(len(others)))] for others in options]
        return (pad([self.tokens[i] for i in drawn], device),)


def several_captions(recipe: Tables) -> Iterator[str]:
    """Yield what a recipe lacks for an objective that reads two captions of one picture."""
    if recipe.data.pictures == "disjoint":
        yield 'data.pictures = "shared", "pivoted" or "common"'


def partners(data: TrainingData) -> DrawnCaptions:
    """Supply a caption of the same picture in another language. DataError if a picture has one language."""
    captions = data.captions.captions
    of_picture = _captions_of_pictures(data.captions)
    choices = []
    for caption in captions:
        others = [i for i in of_picture[caption.picture] if captions[i].language != caption.language]
        choices.append(others)
        if not others:
            raise DataError(
                f"objectives.paired: {data.captions.pictures[caption.picture]} has captions in "
                f'{caption.language} alone; it needs data.pictures = "shared" and captions in two languages '
                "a picture"
            )
    return DrawnCaptions(choices, data.tokens)


def neighbours(data: TrainingData) -> DrawnCaptions:
    """Supply another caption of the same picture, in any language; the same one if it has no other."""
    of_picture = _captions_of_pictures(data.captions)
    choices = [
        [other for other in of_picture[caption.picture] if other != number] or [number]
        for number, caption in enumerate(data.captions.captions)
    ]
    return DrawnCaptions(choices, data.tokens)


def _captions_of_pictures(data: CaptionedPictures) -> list[list[int]]:
    """Picture -> its captions."""
    captions: list[list[int]] = [[] for _ in data.pictures]
    for number, caption in enumerate(data.captions):
        captions[caption.picture].append(number)
    return captions


SUPPLIERS |= {"partners": partners, "neighbours": neighbours, "languages": LanguageNumbers}
