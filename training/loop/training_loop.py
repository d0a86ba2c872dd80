"""The training loop: step, validate, checkpoint, resume. It knows no recipe by name."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from index.errors import PassepartoutError, TrainingError, UsageError
from index.progress import Progress
from training.data.tokens import by_length, pad
from training.loop.allocator import keep_freed_memory
from training.loop.caption_transfer import finished_start, start_folder, start_recipe, take_up
from training.loop.checkpoint import Counters, load_last, save_best, save_last
from training.loop.distributed import Processes, joined
from training.loop.engine import Chunk, Engine, cut
from training.loop.guard import LossGuard
from training.loop.mining_rounds import stage, take_up_round
from training.loop.model import Batch
from training.loop.prepare import Prepared, prepare
from training.loop.run import Run, create_run, open_run
from training.loop.streaming import Windows, prepare_streamed
from training.loop.validation import validate
from training.recipes.recipe import Recipe
from training.recipes.settings import OptimiserSettings

LOG_STEPS = 10


def train(recipe: Recipe, data: Path, out: Path, *, resume: bool = False) -> Run:
    """Train a recipe on a data folder into a run folder and return the run.

    With `resume` an interrupted run goes on from its last checkpoint, to the same result as an unbroken one;
    a finished run is left as it is. Started by torchrun, its processes train together: the first one writes.
    Raises TrainingError when the loss or the weights are not finite or the loss explodes (the last good
    checkpoint stays).
    """
    start = _take_start(recipe, data, out, resume=resume) if recipe.transfer else None
    with joined() as processes:
        with processes.after_the_first():
            new = not out.exists() or not any(out.iterdir())
            run = create_run(out, recipe, resume=resume) if processes.first else open_run(out)
            if run.result_file.is_file():
                return run
            torch.set_num_threads(recipe.run.threads or torch.get_num_threads())
            keep_freed_memory()
            windows = None
            try:
                take_up(run, data, start)
                if recipe.data.stream:
                    prepared, windows = prepare_streamed(run, data)
                else:
                    prepared = prepare(run, data)
            except PassepartoutError:
                if new:
                    run.discard()
                raise
        Loop(run, prepared, processes, windows).run_epochs()
        processes.wait()
    return run


def _take_start(recipe: Recipe, data: Path, out: Path, *, resume: bool) -> Run | None:
    """The finished run that this one begins with, trained first where that is still to do."""
    settings = recipe.transfer
    if settings is None or not settings.needs_start:
        return None
    if (out / "recipe.json").is_file():
        create_run(out, recipe, resume=resume)  # a folder that can't be used is refused first
    if not settings.start:
        train(start_recipe(recipe), data, start_folder(settings, out), resume=True)
    return finished_start(recipe, out)


def learning_rate(settings: OptimiserSettings, step: int, steps: int) -> float:
    """The rate of a step: a linear rise over the warm-up, then constant or a linear fall to 0."""
    rise = min(1.0, (step + 1) / settings.warmup_steps) if settings.warmup_steps else 1.0
    fall = 1 - step / max(1, steps) if settings.schedule == "linear" else 1.0
    return settings.learning_rate * rise * fall


class Loop:
    """One run in progress."""

    def __init__(
        self,
        run: Run,
        prepared: Prepared,
        processes: Processes | None = None,
        windows: Windows | None = None,
    ) -> None:
        self.run, self.prepared, self.windows = run, prepared, windows
        self.processes = processes or Processes()
        self.settings = run.recipe.optimiser
        # An encoder that attends to pads is not to notice which captions stand beside one.
        attends_to_pads = getattr(run.recipe.text, "attention_mask", True) is False
        self.groups = 1 if attends_to_pads else self.settings.length_groups
        self.engine = Engine(prepared.model, run.recipe, self.processes)
        self.optimiser = _optimiser(prepared, self.settings)
        self.counters = Counters()
        batches = prepared.sampler.batches(0)
        _check_sizes(min(map(len, batches)), self.processes)
        self.clock = time.monotonic()
        self.steps = self.settings.epochs * (windows.batches if windows else len(batches))
        if run.last_file.is_file():
            self.counters = load_last(run.last_file, prepared.model, self.optimiser)
        if self.processes.first:
            run.cut_log(self.counters.log_size)
        factor, patience = self.settings.explosion_factor, self.settings.explosion_steps
        self.guard = LossGuard(factor, patience, self.counters.losses, self.counters.high)

    def run_epochs(self) -> None:
        """Train the epochs that are left, then write the run's result."""
        done = self.counters.epoch
        if self.counters.step == 0 and self.prepared.skipped.names and not self.windows:
            self._log({"skipped_pictures": self.prepared.skipped.summary()})
        left, label = self.settings.epochs - done, f"train {self.run.recipe.name}"
        with self.processes.shown(Progress(left, unit="epochs", label=label)) as bar:
            for epoch in range(done, self.settings.epochs):
                if self._stalled():
                    break
                self._take_up_pairs(epoch)
                self.stage = self._stage(epoch)
                self._epoch(epoch)
                bar.advance()
        if self.processes.first:
            self.run.finish(self._result())

    def _stalled(self) -> bool:
        """Whether validations have waited for a better one as long as the recipe is patient."""
        recipe, counters, settings = self.run.recipe, self.counters, self.run.recipe.run
        pretraining = 0 if recipe.fine_tunes else recipe.schedule.pretraining_epochs
        waited = counters.epoch - max(counters.best_epoch, pretraining)
        return 0 < settings.patience * settings.validate_every <= waited

    def _stage(self, epoch: int) -> tuple[int, int]:
        """The first step and the number of steps that the rate's rise and fall are about."""
        recipe = self.run.recipe
        start, stop = stage(epoch, self.settings.epochs, recipe.mining)
        if not recipe.fine_tunes:
            start, stop = recipe.schedule.stage(epoch, start, stop)
        each = self.steps // self.settings.epochs
        return start * each, (stop - start) * each

    def _take_up_pairs(self, epoch: int) -> None:
        """Have the pseudopairs that this epoch trains on, mining them where its round begins with it."""
        source, settings = self.prepared.pseudopairs, self.run.recipe.mining
        if source is None or settings is None:
            return
        with self.processes.after_the_first():
            mined = take_up_round(self.run, epoch, source, self.prepared.model, self.prepared.device)
        if mined:
            self._log({"epoch": epoch, "pseudopairs": mined})

    def _take_window(self, epoch: int) -> None:
        """Have the part of a stream that this epoch trains on."""
        if self.windows is None:
            return
        self.prepared, skipped = self.windows.into(self.prepared, epoch)
        if self.processes.first:
            self.prepared.skipped.write(self.run.skipped_file)
        if skipped.names:
            self._log({"epoch": epoch, "skipped_pictures": skipped.summary()})

    def _seconds(self) -> float:
        """So far, of epochs, mining and validations. To be kept: what is counted now is not again."""
        before, self.clock = self.clock, time.monotonic()
        return self.counters.seconds + self.clock - before

    def _epoch(self, epoch: int) -> None:
        self._take_window(epoch)
        if 0 < epoch == self.run.recipe.schedule.pretraining_epochs:  # other losses, of another size
            self.guard = LossGuard(self.settings.explosion_factor, self.settings.explosion_steps)
        self.prepared.model.train()
        batches = self.prepared.sampler.batches(epoch)
        for number, captions in enumerate(batches):
            chunks = self._chunks(captions, epoch, number)
            self._expect(batches[number + 1 : number + 2])
            self._step(chunks)
        # A gradient can overflow where the loss does not; what it spoilt may not reach a checkpoint.
        if not all(torch.isfinite(weights).all() for weights in self.prepared.model.parameters()):
            raise self._stopped("weights are not finite")
        losses, high = self.guard.losses, self.guard.high
        self.counters = replace(
            self.counters, epoch=epoch + 1, seconds=self._seconds(), losses=losses, high=high
        )
        if self.processes.first:
            self._keep(epoch + 1)

    def _expect(self, batches: Sequence[NDArray[np.int64]]) -> None:
        """Have this process's pictures of these batches decoded while it learns from others."""
        for captions in batches:
            for part in cut(len(captions), self.settings.chunk_size, self.processes):
                self.prepared.pictures.expect(self._pictures(captions[part]))

    def _pictures(self, captions: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray([self.prepared.data.captions[i].picture for i in captions])

    def _keep(self, epoch: int) -> None:
        """Validate and save, where it is time and the loss is in its bounds."""
        settings, last = self.run.recipe.run, epoch == self.settings.epochs
        if self.guard.high and not last:
            return
        if last or epoch % settings.validate_every == 0:
            self._validate()
        if last or epoch % settings.checkpoint_every == 0:
            self.counters = replace(self.counters, log_size=self.run.log_size())
            save_last(self.run.last_file, self.prepared.model, self.optimiser, self.counters)

    def _chunks(self, captions: NDArray[np.int64], epoch: int, number: int) -> list[Chunk]:
        """This process's part of a batch of captions. Chance depends on seed, epoch, batch and first row."""
        found, source, recipe = [], self.prepared.pseudopairs, self.run.recipe
        inactive = recipe.schedule.inactive(
            recipe.objectives, recipe.seed, epoch, number, pretrained=recipe.fine_tunes
        )
        pairs = source.batch(len(captions), epoch, number) if source else None
        halves = self.prepared.halves.batch(len(captions), epoch, number) if self.prepared.halves else None
        for part in cut(len(captions), self.settings.chunk_size, self.processes):
            draw = np.random.default_rng([self.run.recipe.seed, epoch, number, part.start])
            batch = replace(self._batch(captions[part], draw), inactive=inactive)
            if pairs:
                batch = batch.with_mined(pairs.part(part, self.prepared.device))
            if halves:
                batch = batch.with_halves(halves.part(part, self.prepared.device))
            found.append(Chunk(batch, int(draw.integers(2**63))))
        return found

    def _batch(self, captions: NDArray[np.int64], draw: np.random.Generator) -> Batch:
        prepared = self.prepared
        captions, spans = by_length(captions, prepared.tokens, self.groups)
        ids, mask = pad([prepared.tokens[i] for i in captions], prepared.device)
        views = prepared.pictures.views(self._pictures(captions), draw)
        beside = prepared.companions.of(captions, draw, prepared.device)
        return Batch(ids, mask, tuple(view.to(prepared.device) for view in views), beside, spans)

    def _step(self, chunks: list[Chunk]) -> None:
        model, counters = self.prepared.model, self.counters
        if frozen := self.settings.freeze_encoder_epochs:
            model.set_trainable(counters.step >= frozen * self.steps / self.settings.epochs)
        first, steps = self.stage
        rate = learning_rate(self.settings, counters.step - first, steps)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad(set_to_none=True)
        parts = self.engine.backward(chunks)
        self._check(loss := torch.stack(list(parts.values())).sum().item())
        if self.settings.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), self.settings.clip_norm)
        self.optimiser.step()
        if counters.step % LOG_STEPS == 0:
            losses = {name: round(part.item(), 6) for name, part in parts.items()}
            self._log({"step": counters.step, "loss": round(loss, 6), **losses, "learning_rate": rate})
        self.counters = replace(counters, step=counters.step + 1)

    def _check(self, loss: float) -> None:
        if not math.isfinite(loss):
            raise self._stopped("the loss is not finite")
        if self.guard.exploded(loss):
            many = self.settings.explosion_steps
            raise self._stopped(f"the loss has been {self.guard.factor:g} times its median for {many} steps")

    def _log(self, entry: dict[str, object]) -> None:
        if self.processes.first:
            self.run.log(entry)

    def _stopped(self, why: str) -> TrainingError:
        return TrainingError(
            f"{why} at step {self.counters.step}; {self.run.folder} keeps its last good checkpoint; lower "
            "optimiser.learning_rate or set optimiser.clip_norm"
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
        counters, stock = self.counters, self.windows.stream.inventory if self.windows else None
        return {
            "sum_of_recalls": round(counters.best, 3),
            "best_epoch": counters.best_epoch,
            "epochs": counters.epoch,
            "steps": counters.step,
            "seconds": round(self._seconds(), 1),
            "pictures": stock.samples if stock else len(self.prepared.data.pictures),
            "captions": stock.captions if stock else len(self.prepared.data.captions),
            "skipped_pictures": self.prepared.skipped.summary(),
            "text_weights": self.prepared.model.text_weights,
            "data_sha256": self.prepared.sha256,
        }


def _check_sizes(smallest: int, processes: Processes) -> None:
    if smallest < processes.count:
        raise UsageError(
            f"{processes.count} processes share batches of {smallest} pictures; start fewer or raise "
            "optimiser.batch_size"
        )


def _optimiser(prepared: Prepared, settings: OptimiserSettings) -> torch.optim.Optimizer:
    parameters = [p for p in prepared.model.parameters() if p.requires_grad]
    kind = torch.optim.AdamW if settings.weight_decay else torch.optim.Adam
    # Fused: one pass over the weights, a tenth of the time for a large table of embeddings.
    return kind(parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True)
