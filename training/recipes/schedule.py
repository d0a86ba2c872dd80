"""Which objectives a step learns from: some pretrain before all others, some are sampled step by step."""

from collections.abc import Iterable

import numpy as np
from pydantic import Field, field_validator

from training.data.settings import Table

SAMPLING_STREAM = 2  # keeps this draw apart from others of the same step


class ScheduleSettings(Table):
    """The table [schedule]; without it every step learns from all objectives.

    pretraining: the only objectives in the first `pretraining_epochs` epochs (MULE's language pretraining).
    keep_after_pretraining: whether they continue afterwards, with the others.
    rewarm: whether the learning rate warms up again after the pretraining, for layers not yet trained.
    sampling: objective -> probability. After the pretraining each step draws one of these, in addition to all
    objectives that are not listed (Kádár et al. 2019, 2: c2c or image-caption, p = 0.5).
    """

    pretraining: tuple[str, ...] = ()
    pretraining_epochs: int = Field(default=0, ge=0)
    keep_after_pretraining: bool = True
    rewarm: bool = False
    sampling: dict[str, float] = Field(default_factory=dict)

    @field_validator("sampling")
    @classmethod
    def _are_probabilities(cls, probabilities: dict[str, float]) -> dict[str, float]:
        values = probabilities.values()
        if values and (min(values) <= 0 or abs(sum(values) - 1) > 1e-6):
            raise ValueError("give each a probability above 0, 1 in all")
        return probabilities

    def check(self, objectives: Iterable[str]) -> None:
        """Raise ValueError for a name that is no objective of the recipe, and for settings that conflict."""
        known = list(objectives)
        if unknown := [name for name in (*self.pretraining, *self.sampling) if name not in known]:
            raise ValueError(f"schedule: {unknown[0]} is none of the objectives {', '.join(known)}")
        if bool(self.pretraining) != bool(self.pretraining_epochs):
            raise ValueError("schedule.pretraining and schedule.pretraining_epochs need each other")
        if self.rewarm and not self.pretraining:
            raise ValueError("schedule.rewarm needs schedule.pretraining")
        if not self.keep_after_pretraining and set(self.pretraining) >= set(known):
            raise ValueError("schedule.pretraining: no objective is left after it")

    def stage(self, epoch: int, start: int, stop: int) -> tuple[int, int]:
        """The part of the epochs `start` to before `stop` over which the learning rate rises once."""
        if not self.rewarm or not start < self.pretraining_epochs < stop:
            return start, stop
        end = self.pretraining_epochs
        return (start, end) if epoch < end else (end, stop)

    def inactive(
        self, objectives: Iterable[str], seed: int, epoch: int, number: int, *, pretrained: bool = False
    ) -> frozenset[str]:
        """The objectives that batch `number` of `epoch` does not learn from; depends on the arguments alone.

        `pretrained`: the model has been through the pretraining already.
        """
        if epoch < self.pretraining_epochs and not pretrained:
            return frozenset(objectives) - set(self.pretraining)
        finished = frozenset() if self.keep_after_pretraining else frozenset(self.pretraining)
        return finished | frozenset(self.sampling) - {self._sampled(seed, epoch, number)}

    def _sampled(self, seed: int, epoch: int, number: int) -> str | None:
        if not self.sampling:
            return None
        names = list(self.sampling)
        shares = np.asarray(list(self.sampling.values())) / sum(self.sampling.values())
        random = np.random.default_rng([seed, epoch, number, SAMPLING_STREAM])
        return names[int(random.choice(len(names), p=shares))]
