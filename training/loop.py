"""The training loop: step, validate, checkpoint, resume. It knows no recipe by name."""

import math
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from index.errors import PassepartoutError, TrainingError
from index.progress import Progress
from training.checkpoint import Counters, load_last, save_best, save_last
from training.data.subword_dropout import RespelledCaptions
from training.data.tokens import pad
from training.model import Batch, weighted_losses
from training.prepare import Prepared, prepare
from training.recipe import OptimiserSettings, Recipe
from training.run import Run, create_run
from training.validation import validate

LOG_STEPS = 10


def train(recipe: Recipe, data: Path, out: Path, *, resume: bool = False) -> Run:
    """Train a recipe on a data folder into a run folder and return the run.

    With `resume` an interrupted run goes on from its last checkpoint, to the same result as an unbroken one;
    a finished run is left as it is. Raises TrainingError when the loss is not finite (the last good
    checkpoint stays).
    """
    new = not out.exists() or not any(out.iterdir())
    run = create_run(out, recipe, resume=resume)
    if run.result_file.is_file():
        return run
    torch.set_num_threads(recipe.run.threads or torch.get_num_threads())
    try:
        prepared = prepare(run, data)
    except PassepartoutError:
        if new:
            run.discard()
        raise
    Loop(run, prepared).run_epochs()
    return run


def learning_rate(settings: OptimiserSettings, step: int, steps: int) -> float:
    """The rate of a step: a linear rise over the warm-up, then constant or a linear fall to 0."""
    rise = min(1.0, (step + 1) / settings.warmup_steps) if settings.warmup_steps else 1.0
    fall = 1 - step / max(1, steps) if settings.schedule == "linear" else 1.0
    return settings.learning_rate * rise * fall


class Loop:
    """One run in progress."""

    def __init__(self, run: Run, prepared: Prepared) -> None:
        self.run, self.prepared = run, prepared
        self.settings = run.recipe.optimiser
        self.optimiser = _optimiser(prepared, self.settings)
        self.counters = Counters()
        self.steps = self.settings.epochs * len(prepared.sampler.batches(0))
        if run.last_file.is_file():
            self.counters = load_last(run.last_file, prepared.model, self.optimiser)
        run.cut_log(self.counters.log_size)

    def run_epochs(self) -> None:
        """Train the epochs that are left, then write the run's result."""
        done = self.counters.epoch
        if self.counters.step == 0 and self.prepared.skipped.names:
            self.run.log({"skipped_pictures": self.prepared.skipped.summary()})
        with Progress(
            self.settings.epochs - done, unit="epochs", label=f"train {self.run.recipe.name}"
        ) as bar:
            for epoch in range(done, self.settings.epochs):
                self._epoch(epoch)
                bar.advance()
        self.run.finish(self._result())

    def _epoch(self, epoch: int) -> None:
        began = time.monotonic()
        self.prepared.model.train()
        if isinstance(self.prepared.tokens, RespelledCaptions):
            self.prepared.tokens.epoch = epoch
        for number, captions in enumerate(self.prepared.sampler.batches(epoch)):
            self._step(self._batch(captions, epoch, number))
        # A gradient can overflow where the loss does not; what it spoilt may not reach a checkpoint.
        if not all(torch.isfinite(weights).all() for weights in self.prepared.model.parameters()):
            raise self._not_finite("weights are")
        seconds = self.counters.seconds + time.monotonic() - began
        self.counters = replace(self.counters, epoch=epoch + 1, seconds=seconds)
        last = epoch + 1 == self.settings.epochs
        if last or (epoch + 1) % self.run.recipe.run.validate_every == 0:
            self._validate()
        if last or (epoch + 1) % self.run.recipe.run.checkpoint_every == 0:
            self.counters = replace(self.counters, log_size=self.run.log_size())
            save_last(self.run.last_file, self.prepared.model, self.optimiser, self.counters)

    def _batch(self, captions: NDArray[np.int64], epoch: int, number: int) -> Batch:
        prepared = self.prepared
        draw = np.random.default_rng([self.run.recipe.seed, epoch, number])
        rows = np.asarray([prepared.data.captions[i].picture for i in captions])
        ids, mask = pad([prepared.tokens[i] for i in captions], prepared.device)
        views = prepared.pictures.views(rows, draw)
        beside = prepared.companions.of(captions, draw, prepared.device)
        return Batch(ids, mask, tuple(view.to(prepared.device) for view in views), beside)

    def _step(self, batch: Batch) -> None:
        model, counters = self.prepared.model, self.counters
        rate = learning_rate(self.settings, counters.step, self.steps)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        parts = weighted_losses(self.run.recipe, model(batch))
        loss = torch.stack(list(parts.values())).sum()
        if not math.isfinite(loss.item()):
            raise self._not_finite("the loss is")
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        if self.settings.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), self.settings.clip_norm)
        self.optimiser.step()
        if counters.step % LOG_STEPS == 0:
            losses = {name: round(part.item(), 6) for name, part in parts.items()}
            self.run.log(
                {"step": counters.step, "loss": round(loss.item(), 6), **losses, "learning_rate": rate}
            )
        self.counters = replace(counters, step=counters.step + 1)

    def _not_finite(self, what: str) -> TrainingError:
        return TrainingError(
            f"{what} not finite at step {self.counters.step}; {self.run.folder} keeps its last good "
            "checkpoint; lower optimiser.learning_rate or set optimiser.clip_norm"
        )

    def _validate(self) -> None:
        found = validate(self.prepared.model, self.prepared.validation, self.prepared.device)
        mean = sum(found.values()) / len(found)
        epoch = self.counters.epoch
        rounded = {language: round(value, 2) for language, value in found.items()}
        self.run.log({"epoch": epoch, "sum_of_recalls": round(mean, 3), "languages": rounded})
        if mean > self.counters.best or self.run.recipe.run.keep == "last":
            self.counters = replace(self.counters, best=mean, best_epoch=epoch)
            save_best(self.run.best_file, self.prepared.model, self.counters)

    def _result(self) -> dict[str, object]:
        counters = self.counters
        return {
            "sum_of_recalls": round(counters.best, 3),
            "best_epoch": counters.best_epoch,
            "epochs": counters.epoch,
            "steps": counters.step,
            "seconds": round(counters.seconds, 1),
            "pictures": len(self.prepared.data.pictures),
            "captions": len(self.prepared.data.captions),
            "skipped_pictures": self.prepared.skipped.summary(),
            "data_sha256": self.prepared.data.sha256,
        }


def _optimiser(prepared: Prepared, settings: OptimiserSettings) -> torch.optim.Optimizer:
    parameters = [p for p in prepared.model.parameters() if p.requires_grad]
    if settings.weight_decay:
        return torch.optim.AdamW(parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay)
    return torch.optim.Adam(parameters, lr=settings.learning_rate)
