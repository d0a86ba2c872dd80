"""Tells when training has blown up though its loss is still a number."""

from collections.abc import Sequence
from statistics import median

WINDOW = 100  # ordinary losses that the median is taken over
ENOUGH = 10  # of them, before anything is judged


class LossGuard:
    """A loss has exploded when it was above `factor` times the running median for `patience` steps in a row.

    Losses above the bound do not enter the median, so an explosion can't become ordinary. `losses` and
    `high`, the ordinary losses and the length of the present streak, are its whole state.
    """

    def __init__(self, factor: float, patience: int, losses: Sequence[float] = (), high: int = 0) -> None:
        self.factor, self.patience = factor, patience
        self.losses, self.high = tuple(losses), high

    def exploded(self, loss: float) -> bool:
        """Take note of a step's loss; whether it is one too many."""
        if len(self.losses) >= ENOUGH and loss > self.factor * median(self.losses):
            self.high += 1
        else:
            self.losses, self.high = (*self.losses, loss)[-WINDOW:], 0
        return self.high >= self.patience
