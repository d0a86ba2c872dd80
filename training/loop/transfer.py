"""What a recipe's table [transfer] does to a run; nothing without one.

A paper's room registers the settings of the table with what they do (`does`).
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from training.data.captions import CaptionedPictures
from training.data.training_data import TrainingData, TransferredCaption
from training.loop.run import Run
from training.recipes.recipe import Recipe
from training.recipes.settings import TransferSettings

Kind = TypeVar("Kind", bound="Transfer")
Train = Callable[[Recipe, Path, Path], Run]


class Sampler(Protocol):
    """Draws the batches of an epoch, as numbers of captions."""

    def batches(self, epoch: int) -> list[NDArray[np.int64]]: ...


class Transfer:
    """Before and at the beginning of a run: what a recipe without the table does, nothing."""

    def __init__(self, settings: TransferSettings | None) -> None:
        self.settings = settings

    def begin(self, recipe: Recipe, data: Path, out: Path, train: Train) -> None:
        """Do what comes before the run at `out`, such as another run, with `train`, which resumes it."""

    def take_up(self, run: Run, data: Path) -> None:
        """Write into a new run's folder what it begins with. DataError if there is nothing."""

    def captions(self, run: Run, own: CaptionedPictures) -> Sequence[TransferredCaption]:
        """The captions that pictures get besides their own."""
        return ()

    def sampler(self, sampler: Sampler, data: TrainingData) -> Sampler:
        """Draw these captions, too."""
        return sampler


_DOES: dict[type[TransferSettings], type[Transfer]] = {}


def does(settings: type[TransferSettings]) -> Callable[[type[Kind]], type[Kind]]:
    """Register what the settings of a table do."""

    def register(kind: type[Kind]) -> type[Kind]:
        _DOES[settings] = kind
        return kind

    return register


def transfer_of(recipe: Recipe) -> Transfer:
    """What the recipe's table does."""
    settings = recipe.transfer
    return _DOES[type(settings)](settings) if settings else Transfer(None)
