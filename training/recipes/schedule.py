"""Which objectives an epoch learns from: some may pretrain before all others."""

from collections.abc import Iterable

from pydantic import Field

from training.data.settings import SettingsTable


class ScheduleSettings(SettingsTable):
    """The table [schedule]; without it every epoch learns from all objectives.

    pretraining: the only objectives in the first `pretraining_epochs` epochs (MULE's language pretraining).
    keep_after_pretraining: whether they continue afterwards, with the others.
    rewarm: whether the learning rate warms up again after the pretraining, for layers not yet trained.
    """

    pretraining: tuple[str, ...] = ()
    pretraining_epochs: int = Field(default=0, ge=0)
    keep_after_pretraining: bool = True
    rewarm: bool = False

    def check(self, objectives: Iterable[str]) -> None:
        """Raise ValueError for a name that is no objective of the recipe, and for settings that conflict."""
        known = list(objectives)
        if unknown := [name for name in self.pretraining if name not in known]:
            raise ValueError(f"schedule: {unknown[0]} is not one of the objectives {', '.join(known)}")
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

    def inactive(self, objectives: Iterable[str], epoch: int) -> frozenset[str]:
        """The objectives that an epoch does not learn from."""
        if epoch < self.pretraining_epochs:
            return frozenset(objectives) - set(self.pretraining)
        return frozenset() if self.keep_after_pretraining else frozenset(self.pretraining)
