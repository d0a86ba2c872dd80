"""A new language for a finished run, from captions of pictures that were held out (globetrotter, A.2).

Pictures, and the texts of the languages that are there, are embedded once, by the run's model as it is. Then
the same losses go on, over new captions beside old ones, whose embeddings are a given.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from index.encoder.bundle import check_codes
from index.errors import PassepartoutError, TrainingError, UsageError
from index.progress import Progress
from index.storage.files import replace_text
from index.text.languages import language as known_language
from training.data.texts import data_sha256
from training.data.tokens import pad, tokenize
from training.encoders.adapted import Adapted
from training.encoders.bag import Bag
from training.encoders.initialisation import learn_languages
from training.encoders.picture_verified import verified_rows
from training.export.bundle import best_model
from training.loop.allocator import keep_freed_memory
from training.loop.checkpoint import Counters, save_best
from training.loop.model import Batch, TwoBranch, pick_device, weighted_losses
from training.loop.prepare import sentence_tokens, training_texts
from training.loop.run import Run, create_run, open_run
from training.loop.training_loop import LOG_STEPS, learning_rate
from training.loop.validation import ValidationSet, validate
from training.objectives import Outputs
from training.papers.experiments.growing import grown_model, grown_tokenizer
from training.papers.experiments.material import Rows, gather
from training.papers.experiments.sentences import require_photos
from training.recipes.recipe import Recipe

# Losses with nothing to say of a new language: of pictures alone, and of pairs that are not mined anew.
LEFT_OUT = ("visual_contrastive", "pseudopairs")
GIVEN = {"whitened", "adaptations"}  # of what losses need, that which there is here
GROWING = ("transformer", "bag", "adapted")  # encoders whose vocabulary can grow


@dataclass(frozen=True)
class Pace:
    """epochs: each shows every caption of the new language once. captions: of these, how many a step; old
    ones fill the recipe's batch. learning_rate: the recipe's unless given."""

    epochs: int = 1
    captions: int = 32
    learning_rate: float | None = None


@dataclass(frozen=True)
class Added:
    """The run with its new language, the one it was made from, and the models of both, on the CPU."""

    base: Run
    run: Run
    before: TwoBranch
    after: TwoBranch

    @property
    def language(self) -> str:
        return self.run.recipe.data.languages[-1]

    @property
    def new_tokens(self) -> int:
        """Subwords that the vocabulary got."""
        return self.after.vocabulary - self.before.vocabulary


def add_language(folder: Path, language: str, data: Path, out: Path, pace: Pace) -> Added:
    """Teach the finished run in `folder` a language; the result is a finished run at `out`.

    It learns from the captions of pictures that `data.held_out` kept for the language and that no language
    had. Raises UsageError where that can't be, DataError for want of such pictures, TrainingError when the
    loss is not finite.
    """
    base = open_run(folder)
    base.result()
    require_photos(data)
    recipe = grown_recipe(base, language, pace)
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty; give another --out")
    run = create_run(out, recipe, resume=False)
    try:
        torch.set_num_threads(recipe.run.threads or torch.get_num_threads())
        keep_freed_memory()
        before = best_model(base, data)
        after = _Adding(base, run, data, before, pace).learn()
    except PassepartoutError:
        run.discard()
        raise
    return Added(base, run, before.cpu(), after.cpu())


def grown_recipe(base: Run, language: str, pace: Pace) -> Recipe:
    """What the run with the new language says that it is. UsageError where there can be none."""
    was = base.recipe
    try:
        check_codes((language,))
    except ValueError as error:
        raise UsageError(str(error)) from None
    if language in was.data.languages:
        raise UsageError(f"{base.folder} knows {language}: add a language that it does not know")
    if was.data.stream:
        raise UsageError(f"{base.folder} was streamed: a language can be added to runs on photos/ only")
    if was.data.rotation:
        raise UsageError(f"{base.folder} has data.rotation, which leaves no pictures to a new language")
    if was.tokenizer.kind == "words" or was.text.encoder not in GROWING:
        raise UsageError(
            f"{base.folder} reads whole words, or by another encoder than {', '.join(GROWING)}: no language "
            "can be added"
        )
    objectives = {name: o for name, o in was.objectives.items() if name not in LEFT_OUT}
    unfit = [name for name, o in objectives.items() if o.needs - GIVEN]
    if unfit or not objectives:
        raise UsageError(
            f"{base.folder} learned by {(unfit or list(was.objectives))[0]}: no language can be added"
        )
    table = was.model_dump(mode="json") | {
        "name": f"{was.name}-{language.lower()}"[:63],
        "mining": None,
        "transfer": None,
        "schedule": {},
    }
    table["description"] += f"; {known_language(language).name} added to the finished run"
    table["objectives"] = {name: table["objectives"][name] for name in objectives}
    codes, added = (*was.data.languages, language), (*was.data.added, language)
    table["data"] |= {"languages": codes, "added": added}
    table["optimiser"] |= {
        "epochs": pace.epochs,
        "learning_rate": pace.learning_rate or was.optimiser.learning_rate,
    }
    return Recipe.model_validate(table)


class _Adding:
    """One language on its way into a run."""

    def __init__(self, base: Run, run: Run, data: Path, before: TwoBranch, pace: Pace) -> None:
        self.run, self.recipe, self.pace = run, run.recipe, pace
        self.device = pick_device()
        self.material = gather(base, run, data, before.to(self.device))
        texts = training_texts(run, data)
        self.sha256 = data_sha256(self.material.data, texts)
        lines = [caption.text for caption in self.material.data.captions]
        self.tokenizer = self._tokenizer(base, [lines[i] for i in self.material.new])
        self.tokens = tokenize(self.tokenizer, lines)
        torch.manual_seed(self.recipe.seed)
        self.model = grown_model(before, self.recipe, self.tokenizer.get_vocab_size()).to(self.device)
        encoder = self.model.text
        if isinstance(encoder, Adapted | Bag):
            sentences = sentence_tokens(self.tokenizer, texts, self.material.data, self.tokens)
            learn_languages(encoder, self.recipe.data.languages, sentences)
        if isinstance(encoder, Bag) and encoder.settings.embeddings == "picture-verified":
            self._verify_sharing(encoder)

    def _tokenizer(self, base: Run, lines: list[str]) -> Tokenizer:
        settings, count = self.recipe.tokenizer, len(base.recipe.data.languages)
        share = max(200, settings.vocabulary // count)
        found = grown_tokenizer(base.tokenizer(), lines, settings, share, self.recipe.text.max_tokens)
        replace_text(self.run.tokenizer_file, found.to_str(pretty=True))
        return found

    def _verify_sharing(self, encoder: Bag) -> None:
        """Give the new language other languages' embeddings where pictures agree."""
        material, count = self.material, len(self.recipe.data.languages)
        rows = verified_rows(
            self.tokens,
            material.languages,
            material.pictures,
            material.views,
            shape=(encoder.vocabulary, count),
            false_discovery_rate=encoder.settings.false_discovery_rate,
        )
        owner = torch.from_numpy(rows[:, -1] // encoder.vocabulary).to(self.device)
        shared = torch.nonzero(owner < count - 1)[:, 0]
        encoder.rows[shared, -1] = encoder.rows[shared, owner[shared]]

    def learn(self) -> TwoBranch:
        """Train, validate, write the run; the model."""
        began, settings = time.monotonic(), self.recipe.optimiser
        rounds = [b for epoch in range(settings.epochs) for b in self._batches(epoch)]
        warmup = min(settings.warmup_steps, len(rounds) // 10)
        settings = settings.model_copy(update={"warmup_steps": warmup})
        parts = (self.model.text, self.model.text_head, self.model.cloze_head)
        parameters = {p for part in parts if part is not None for p in part.parameters()}
        kind = torch.optim.AdamW if settings.weight_decay else torch.optim.Adam
        optimiser = kind(
            list(parameters), lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
        )
        self.model.train()
        with Progress(len(rounds), unit="steps", label=f"add {self.recipe.data.languages[-1]}") as bar:
            for step, new in enumerate(rounds):
                for group in optimiser.param_groups:
                    group["lr"] = learning_rate(settings, step, len(rounds))
                self._step(optimiser, step, new)
                bar.advance()
        self.model.eval()
        self._finish(len(rounds), time.monotonic() - began)
        return self.model

    def _batches(self, epoch: int) -> Iterator[Rows]:
        """The numbers of the new captions, each once; in a batch no picture comes twice."""
        draw = np.random.default_rng([self.recipe.seed, epoch])
        order = draw.permutation(self.material.new)
        owners = self.material.pictures[order]
        turn = np.empty(len(order), np.int64)
        for picture in np.unique(owners):
            own = np.flatnonzero(owners == picture)
            turn[own] = np.arange(len(own))
        for number in range(int(turn.max()) + 1):
            rows = order[turn == number]
            yield from np.array_split(rows, max(1, round(len(rows) / self.pace.captions)))

    def _step(self, optimiser: torch.optim.Optimizer, step: int, new: Rows) -> None:
        losses = weighted_losses(self.recipe.objectives, self._outputs(step, new))
        loss = torch.stack(list(losses.values())).sum()
        if not math.isfinite(loss.item()):
            raise TrainingError(f"the loss is not finite at step {step}: lower --learning-rate")
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        if self.recipe.optimiser.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.optimiser.clip_norm)
        optimiser.step()
        if step % LOG_STEPS == 0:
            parts = {name: round(part.item(), 6) for name, part in losses.items()}
            self.run.log({"step": step, "loss": round(loss.item(), 6), **parts})

    def _outputs(self, step: int, new: Rows) -> Outputs:
        """New captions through the model, and old ones beside them as they were embedded."""
        material = self.material
        old = self._beside(new, np.random.default_rng([self.recipe.seed, step, 1]))
        ids, mask = pad([self.tokens[i] for i in new], self.device)
        outputs: Outputs = self.model(Batch(ids, mask, ()))
        pictures = material.pictures[np.concatenate([new, old])]
        return replace(
            outputs,
            text=torch.cat([outputs.text, self._given(material.texts[old])]),
            views=(self._given(material.views[pictures]),),
            whitened=None if material.whitened is None else self._given(material.whitened[pictures]),
        )

    def _beside(self, new: Rows, draw: np.random.Generator) -> Rows:
        """Old captions that fill the batch, of different pictures that the new ones do not show."""
        material = self.material
        old = np.flatnonzero(material.languages < len(self.recipe.data.languages) - 1)
        order = draw.permutation(old[~np.isin(material.pictures[old], material.pictures[new])])
        _, first = np.unique(material.pictures[order], return_index=True)
        return order[np.sort(first)][: max(0, self.recipe.optimiser.batch_size - len(new))]

    def _given(self, rows: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> Tensor:
        return torch.from_numpy(rows).to(self.device)

    def _finish(self, steps: int, seconds: float) -> None:
        material, epochs = self.material, self.recipe.optimiser.epochs
        dev = tokenize(self.tokenizer, [caption.text for caption in material.dev.captions])
        found = validate(self.model, ValidationSet(material.dev, dev, material.dev_pictures), self.device)
        best = sum(found.values()) / len(found)
        self.run.log({"epoch": epochs, "sum_of_recalls": round(best, 3), "languages": found})
        counters = Counters(epoch=epochs, step=steps, best=best, best_epoch=epochs, seconds=seconds)
        save_best(self.run.best_file, self.model, counters)
        self.run.finish(
            {
                "sum_of_recalls": round(best, 3),
                "best_epoch": epochs,
                "epochs": epochs,
                "steps": steps,
                "seconds": round(seconds, 1),
                "pictures": len(material.data.pictures),
                "captions": len(material.data.captions),
                "skipped_pictures": material.skipped.summary(),
                "data_sha256": self.sha256,
            }
        )
