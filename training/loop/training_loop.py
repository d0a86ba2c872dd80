"""The training loop: step, validate, checkpoint, resume. It knows no recipe by name."""

import math
import time
from dataclasses import replace
from pathlib import Path

import torch

from index.errors import PassepartoutError, TrainingError
from index.malloc import keep_freed_memory
from index.progress import Progress
from training.encoders.stored import BEST, RESULT
from training.encoders.two_branch import TwoBranch
from training.loop.checkpoint import Counters, load_last, save_best, save_last
from training.loop.chunks import ChunkedEngine
from training.loop.engine import Chunk
from training.loop.prepare import prepare
from training.loop.run import LAST, Run, create_run
from training.loop.source import CaptionSource
from training.loop.validation import validate
from training.mining.rounds import round_span
from training.recipes.recipe import Recipe
from training.recipes.settings import OptimiserSettings

LOG_STEPS = 10


def train(recipe: Recipe, data: Path, out: Path, *, resume: bool = False) -> Run:
    """Train a recipe on a data folder into a run folder and return the run.

    With `resume` an interrupted run continues from its last checkpoint, to the same result as an unbroken
    one; a finished run is left as it is. The recipe's stages are runs beside it, OUT-1, OUT-2, ..., which go
    on in the same way.
    Raises TrainingError when the loss or the weights are not finite (the last good checkpoint stays).
    """
    before: Path | None = None
    for number, stage in enumerate(recipe.staged(), 1):
        folder = out.with_name(f"{out.name}-{number}")
        train(stage.after(before) if before else stage, data, folder, resume=True)
        before = folder
    if before:
        recipe = recipe.after(before)
    is_new = not out.exists() or not any(out.iterdir())
    run = create_run(out, recipe, resume=resume)
    if (run.folder / RESULT).is_file():
        return run
    torch.set_num_threads(recipe.run.threads or torch.get_num_threads())
    keep_freed_memory()
    try:
        source = prepare(run, data)
    except PassepartoutError:
        if is_new:
            run.discard()
        raise
    Loop(run, source).run_epochs()
    return run


def learning_rate(settings: OptimiserSettings, step: int, steps: int) -> float:
    """Learning rate of a step: linear warm-up, then constant or linear decay to 0."""
    rise = min(1.0, (step + 1) / settings.warmup_steps) if settings.warmup_steps else 1.0
    fall = 1 - step / max(1, steps) if settings.schedule == "linear" else 1.0
    return settings.learning_rate * rise * fall


class Loop:
    """One run in progress."""

    def __init__(self, run: Run, source: CaptionSource) -> None:
        self.run, self.source, self.model = run, source, source.model
        self.settings = run.recipe.optimiser
        self.engine = ChunkedEngine(self.model, run.recipe)
        self.optimiser = _optimiser(self.model, self.settings)
        self.counters = Counters()
        self.clock = time.monotonic()
        self.epoch_steps = len(source.sampler.batches(0))
        if (run.folder / LAST).is_file():
            self.counters = load_last(run.folder / LAST, self.model, self.optimiser)
        run.cut_log(self.counters.log_size)

    def run_epochs(self) -> None:
        """Train the epochs that are left, then write the run's result."""
        done = self.counters.epoch
        remaining, label = self.settings.epochs - done, f"train {self.run.recipe.name}"
        with Progress(remaining, unit="epochs", label=label) as bar:
            for epoch in range(done, self.settings.epochs):
                if self._stalled():
                    break
                if mined := self.source.begin(epoch):
                    self.run.log({"epoch": epoch, "pseudopairs": mined})
                self._epoch(epoch)
                bar.advance()
        self.run.finish(self._result())

    def _stalled(self) -> bool:
        """Whether no validation has been better for as long as `run.patience` allows."""
        counters, settings = self.counters, self.run.recipe.run
        pretraining = self.run.recipe.schedule.pretraining_epochs
        waited = counters.epoch - max(counters.best_epoch, pretraining)
        return 0 < settings.patience * settings.validate_every <= waited

    def _seconds(self) -> float:
        """Seconds of epochs, mining and validations so far; restarts the clock, so store what it returns."""
        before, self.clock = self.clock, time.monotonic()
        return self.counters.seconds + self.clock - before

    def _rate_span(self, epoch: int) -> tuple[int, int]:
        """First step, and number of steps, over which the learning rate of an epoch rises and falls once."""
        recipe = self.run.recipe
        start, stop = round_span(epoch, self.settings.epochs, recipe.mining)
        start, stop = recipe.schedule.rate_span(epoch, start, stop)
        return start * self.epoch_steps, (stop - start) * self.epoch_steps

    def _epoch(self, epoch: int) -> None:
        first, steps = self._rate_span(epoch)
        self.model.train()
        for chunks in self.source.batches(epoch):
            self._step(chunks, learning_rate(self.settings, self.counters.step - first, steps))
        # A gradient can overflow where the loss does not; damaged weights must not reach a checkpoint.
        if not all(torch.isfinite(weights).all() for weights in self.model.parameters()):
            raise self._stopped("weights are not finite")
        if epoch + 1 == self.settings.epochs:
            self.model.text.conclude()
        self.counters = replace(self.counters, epoch=epoch + 1, seconds=self._seconds())
        self._keep(epoch + 1)

    def _keep(self, epoch: int) -> None:
        """Validate and save a checkpoint where they are due."""
        settings, last = self.run.recipe.run, epoch == self.settings.epochs
        if last or epoch % settings.validate_every == 0:
            self._validate()
        if last or epoch % settings.checkpoint_every == 0:
            self.counters = replace(self.counters, log_size=self.run.log_size())
            save_last(self.run.folder / LAST, self.model, self.optimiser, self.counters)

    def _step(self, chunks: list[Chunk], rate: float) -> None:
        counters = self.counters
        if frozen := self.settings.freeze_encoder_epochs:
            self.model.set_trainable(counters.step >= frozen * self.epoch_steps)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad(set_to_none=True)
        parts = self.engine.backward(chunks)
        loss = torch.stack(list(parts.values())).sum().item()
        if not math.isfinite(loss):
            raise self._stopped("the loss is not finite")
        if self.settings.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip_norm)
        self.optimiser.step()
        if counters.step % LOG_STEPS == 0:
            losses = {name: round(part.item(), 6) for name, part in parts.items()}
            self.run.log({"step": counters.step, "loss": round(loss, 6), **losses, "learning_rate": rate})
        self.counters = replace(counters, step=counters.step + 1)

    def _stopped(self, why: str) -> TrainingError:
        return TrainingError(
            f"{why} at step {self.counters.step}; {self.run.folder} keeps its last good checkpoint; lower "
            "optimiser.learning_rate or set optimiser.clip_norm"
        )

    def _validate(self) -> None:
        recalls = validate(self.model, self.source.validation, self.source.device)
        mean = sum(recalls.values()) / len(recalls)
        epoch = self.counters.epoch
        rounded = {language: round(value, 2) for language, value in recalls.items()}
        self.run.log({"epoch": epoch, "sum_of_recalls": round(mean, 3), "languages": rounded})
        if mean > self.counters.best or self.run.recipe.run.keep == "last":
            self.counters = replace(self.counters, best=mean, best_epoch=epoch)
            save_best(self.run.folder / BEST, self.model, self.counters)

    def _result(self) -> dict[str, object]:
        counters, captions = self.counters, self.source.data.captions
        return {
            "sum_of_recalls": round(counters.best, 3),
            "best_epoch": counters.best_epoch,
            "epochs": counters.epoch,
            "steps": counters.step,
            "seconds": round(self._seconds(), 1),
            "text_weights": self.model.text_weights,
            "pictures": len(captions.pictures),
            "captions": len(captions.captions),
            "data_sha256": self.source.sha256,
        }


def _optimiser(model: TwoBranch, settings: OptimiserSettings) -> torch.optim.Optimizer:
    parameters = [p for p in model.parameters() if p.requires_grad]
    kind = torch.optim.AdamW if settings.weight_decay else torch.optim.Adam
    # Fused: one pass over the weights, a tenth of the time for a large table of embeddings.
    return kind(parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True)
