"""Which objectives a step is about: some come before all others, some take turns by chance."""

from collections.abc import Iterable, Mapping

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, field_validator

TURN = 2  # tells this draw from others of the same step


class TurnSettings(BaseModel):
    """The table [turns]; without it every step takes all objectives.

    first: for the first `epochs` epochs these objectives alone: a pretraining (MULE's LP).
    epochs: of that pretraining.
    go_on: whether what came first goes on afterwards, beside the others.
    rise_again: whether the learning rate then rises over the warm-up again, for layers that have not learned.
    one_of: objective -> probability. Afterwards each step takes one of these, drawn by its probability, and
    all objectives that are not among them (Kádár et al. 2019, 2: c2c or image-caption, p = 0.5).
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    first: tuple[str, ...] = ()
    epochs: int = Field(default=0, ge=0)
    go_on: bool = True
    rise_again: bool = False
    one_of: dict[str, float] = Field(default_factory=dict)

    @field_validator("one_of")
    @classmethod
    def _are_probabilities(cls, given: dict[str, float]) -> dict[str, float]:
        if given and (min(given.values()) <= 0 or abs(sum(given.values()) - 1) > 1e-6):
            raise ValueError("give each a probability above 0, 1 in all")
        return given

    def check(self, objectives: Iterable[str]) -> None:
        """ValueError for a name that is none of the recipe's objectives, and for half a pretraining."""
        known = list(objectives)
        if unknown := [name for name in (*self.first, *self.one_of) if name not in known]:
            raise ValueError(f"turns: {unknown[0]} is none of the objectives {', '.join(known)}")
        if bool(self.first) != bool(self.epochs):
            raise ValueError("turns.first and turns.epochs need each other")
        if self.rise_again and not self.first:
            raise ValueError("turns.rise_again needs turns.first: the rate rises again after a pretraining")
        if not self.go_on and set(self.first) >= set(known):
            raise ValueError("turns.first: when they do not go on, no objective is left")

    def stage(self, epoch: int, start: int, stop: int) -> tuple[int, int]:
        """The part of the epochs `start` to before `stop` in whose rise and fall of the rate `epoch` is."""
        if not self.rise_again or not start < self.epochs < stop:
            return start, stop
        return (start, self.epochs) if epoch < self.epochs else (self.epochs, stop)

    def resting(
        self, objectives: Iterable[str], seed: int, epoch: int, number: int, *, begun: bool = False
    ) -> frozenset[str]:
        """The objectives that batch `number` of `epoch` is not about; depends on the arguments alone.
        `begun`: the pretraining is behind the model."""
        if epoch < self.epochs and not begun:
            return frozenset(objectives) - set(self.first)
        done = frozenset() if self.go_on else frozenset(self.first)
        return done | frozenset(self.one_of) - {_drawn(self.one_of, seed, epoch, number)}


def _drawn(one_of: Mapping[str, float], seed: int, epoch: int, number: int) -> str | None:
    if not one_of:
        return None
    names = list(one_of)
    shares = np.asarray(list(one_of.values())) / sum(one_of.values())
    return names[int(np.random.default_rng([seed, epoch, number, TURN]).choice(len(names), p=shares))]
