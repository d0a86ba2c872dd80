"""The tables of a recipe about how a run goes: [mining], [schedule], [optimiser] and [run]."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from training.data.settings import SettingsTable, listed


class MiningSettings(SettingsTable):
    """Pseudopairs for objectives.pseudopairs: sentences that are each other's nearest, mined with the current
    encoder before epoch `begin` and every `every` epochs from there on (training.mining).

    Mined among the sentences of data.texts and the captions. keep: the share of pairs kept, those with the
    highest CSLS. probability: keeps in its place the pairs that are at least so probably translations
    (training.mining.probable_pairs), and trains on each in proportion to it; then one sentence of each
    pair is in one of the languages `pivots` and of the same text, or of any where that text lacks the first.
    Each of these is asked where those before it have paired less than half of a language's sentences; all but
    the first may be missing from data.languages.
    sentences: at most so many per language, four times as many of a pivot, drawn anew for each round;
    with `keep` the time of a round grows with the square. captions: whether captions are mined; if not, no
    two captions are ever paired, which matters where pictures are shared. words: the epoch from which
    sentences are also compared by the translations of their words, and these paired
    (training.mining.words); needs `probability`. contexts: in how many rounds, from that epoch on, words
    are also paired with those of the first pivot by the words beside them (training.mining.contexts).
    languages: which are mined with the pivots, where not all. Subwords that they hardly use are held as
    text.start has them, so that the other languages hardly change.
    """

    begin: int = Field(ge=1)
    every: int = Field(ge=1)
    captions: bool = True
    keep: float = Field(default=0.75, gt=0, le=1)
    probability: float | None = Field(default=None, gt=0, lt=1)
    pivots: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()
    sentences: int = Field(default=50_000, ge=2)
    words: int | None = Field(default=None, ge=0)
    contexts: int = Field(default=0, ge=0)
    languages: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _probability_has_pivots(self) -> "MiningSettings":
        if (self.probability is None) != (not self.pivots):
            raise ValueError("probability and pivots need each other")
        if self.words is not None and self.probability is None:
            raise ValueError("words needs probability and pivots")
        if self.contexts and self.words is None:
            raise ValueError("contexts needs words")
        if self.languages and self.probability is None:
            raise ValueError("languages needs probability and pivots")
        return self

    def mined_with(self, pivot: str, codes: Iterable[str]) -> list[str]:
        """Those of some languages that are mined with a pivot; two pivots with each other once."""
        done = self.pivots[: self.pivots.index(pivot) + 1]
        return [code for code in codes if code not in done and (not self.languages or code in self.languages)]

    def counts_words(self, epoch: int) -> bool:
        """Whether the round that begins with `epoch` compares whole words, too."""
        return self.words is not None and epoch >= self.words

    def counts_contexts(self, epoch: int) -> bool:
        """Whether the round that begins with `epoch` also pairs words by their contexts."""
        if self.words is None:
            return False
        first = max(self.begin, self.words)
        return first <= epoch < first + self.contexts * self.every


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

    def rate_span(self, epoch: int, start: int, stop: int) -> tuple[int, int]:
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


class OptimiserSettings(SettingsTable):
    """Adam (AdamW where weight_decay > 0). An epoch shows each picture once, with one of its captions.

    schedule: "linear" falls to 0 at the end of the run, and before each round of mining, which then finds a
    settled encoder; afterwards the rate rises again.
    freeze_encoder_epochs: how many of the first epochs, possibly a fraction, train only the heads (Krasner
    et al. 2025, 3.1: half an epoch).
    chunk_size: pairs that the encoders take at a time, to save memory; the losses still see the whole batch
    (training.loop.chunks). 0: the whole batch.
    precision: of the encoders' computation; "auto" is bfloat16 on a GPU that has it, otherwise float32.
    Weights, gradients and losses are always float32.
    """

    epochs: int = Field(ge=1)
    batch_size: int = Field(ge=2)
    learning_rate: float = Field(gt=0)
    warmup_steps: int = Field(default=0, ge=0)
    freeze_encoder_epochs: float = Field(default=0.0, ge=0)
    schedule: Literal["constant", "linear"] = "constant"
    weight_decay: float = Field(default=0.0, ge=0)
    clip_norm: float | None = Field(default=None, gt=0)
    chunk_size: int = Field(default=0, ge=0)
    precision: Literal["auto", "float32", "bfloat16"] = "auto"


class RunSettings(SettingsTable):
    """When a run validates and saves (both in epochs), and how many CPU threads it uses (0: all).

    keep: the model of the "best" validation, or the "last" one, for systems without pictures, which
    validation by pictures cannot judge.
    patience: the run ends after so many validations without improvement; 0: never.
    """

    validate_every: int = Field(default=1, ge=1)
    checkpoint_every: int = Field(default=1, ge=1)
    threads: int = Field(default=0, ge=0)
    keep: Literal["best", "last"] = "best"
    patience: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _patience_has_a_best(self) -> "RunSettings":
        if self.patience and self.keep == "last":
            raise ValueError('patience waits for a better validation: it needs keep = "best"')
        return self
