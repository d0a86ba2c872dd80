"""Adds a language to a finished run, from captions of pictures that were held out (globetrotter, A.2).

Pictures and the captions of the old languages are embedded once by the run's model. The new language is then
trained with the same losses, its captions in one batch with old ones, whose embeddings stay fixed.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer

from index.encoder.bundle import check_codes
from index.errors import PassepartoutError, UsageError
from index.languages import language as known_language
from index.storage.files import replace_text
from training.data.folder import data_sha256, require_sets
from training.data.tokens import tokenize
from training.data.training_data import TrainingData, sentences_of
from training.data.vocabulary_extension import extend_vocabulary
from training.encoders.two_branch import TwoBranch
from training.loop.distributed import keep_freed_memory
from training.loop.model import build_model, load_model, pick_device
from training.loop.prepare import training_texts
from training.loop.run import Run, create_run, open_run
from training.loop.training_loop import Loop
from training.papers.globetrotter.cached_embeddings import (
    CachedEmbeddings,
    NewLanguageSource,
    embed_beforehand,
)
from training.recipes.recipe import Recipe


@dataclass(frozen=True)
class Schedule:
    """How a language is added.

    epochs: passes over the captions of the new language. captions: how many of them a batch holds; old
    captions fill the rest of the recipe's batch size. learning_rate: the recipe's if None.
    """

    epochs: int = 1
    captions: int = 32
    learning_rate: float | None = None


@dataclass(frozen=True)
class AddedLanguage:
    """The new run, the run it was made from (`base`), and the models of both, on the CPU."""

    base: Run
    run: Run
    before: TwoBranch
    after: TwoBranch

    @property
    def language(self) -> str:
        return self.run.recipe.data.languages[-1]

    @property
    def new_tokens(self) -> int:
        """How many subwords were added to the vocabulary."""
        return self.after.vocabulary - self.before.vocabulary


def add_language(folder: Path, language: str, data: Path, out: Path, schedule: Schedule) -> AddedLanguage:
    """Add a language to the finished run in `folder`; the result is a finished run at `out`.

    Trains on pictures that `data.held_out` kept for the language, and on those that no language had. Raises
    UsageError if the run cannot be extended, DataError if there are no such pictures, TrainingError if the
    loss is not finite.
    """
    base = open_run(folder)
    base.result()
    require_sets(data, base.recipe.data.sets)
    recipe = extended_recipe(base, language, schedule)
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty; give another --out")
    run = create_run(out, recipe, resume=False)
    try:
        torch.set_num_threads(recipe.run.threads or torch.get_num_threads())
        keep_freed_memory()
        before = load_model(base, data).to(pick_device())
        source = _source(base, run, data, before, schedule)
    except PassepartoutError:
        run.discard()
        raise
    settings = recipe.optimiser
    warmup = min(settings.warmup_steps, settings.epochs * source.steps // 10)
    Loop(run, source, settings=settings.model_copy(update={"warmup_steps": warmup})).run_epochs()
    return AddedLanguage(base, run, before.cpu(), source.model.eval().cpu())


def extended_recipe(base: Run, language: str, schedule: Schedule) -> Recipe:
    """The recipe of the run with the new language. UsageError if the language cannot be added."""
    base_recipe = base.recipe
    _check(base, language)
    objectives = {name: o for name, o in base_recipe.objectives.items() if not o.skipped_for_new_language}
    unfit = [name for name, objective in objectives.items() if not objective.learns_new_language]
    if unfit or not objectives:
        raise UsageError(
            f"{base.folder} learned by {(unfit or list(base_recipe.objectives))[0]}: no language can be added"
        )
    table = base_recipe.model_dump(mode="json") | {
        "name": f"{base_recipe.name}-{language.lower()}"[:63],
        "mining": None,
        "transfer": None,
        "schedule": {},
    }
    table["description"] += f"; {known_language(language).name} added to the finished run"
    table["objectives"] = {name: table["objectives"][name] for name in objectives}
    codes, added = (*base_recipe.data.languages, language), (*base_recipe.data.added, language)
    table["data"] |= {"languages": codes, "added": added}
    table["optimiser"] |= {
        "epochs": schedule.epochs,
        "learning_rate": schedule.learning_rate or base_recipe.optimiser.learning_rate,
        "freeze_encoder_epochs": 0,
    }
    # A run this short is validated and saved at its end only.
    table["run"] |= {
        "validate_every": schedule.epochs,
        "checkpoint_every": schedule.epochs,
        "keep": "last",
        "patience": 0,
    }
    return Recipe.model_validate(table)


def _check(base: Run, language: str) -> None:
    """UsageError if the run cannot be extended by the language."""
    base_recipe = base.recipe
    try:
        check_codes((language,))
    except ValueError as error:
        raise UsageError(str(error)) from None
    if language in base_recipe.data.languages:
        raise UsageError(f"{base.folder} knows {language}: add a language that it does not know")
    if base_recipe.data.rotation:
        raise UsageError(f"{base.folder} has data.rotation, which leaves no pictures to a new language")
    if base_recipe.tokenizer.kind == "words" or not base_recipe.text.can_grow:
        raise UsageError(
            f"{base.folder} reads whole words, or its encoder {base_recipe.text.encoder} can't grow: "
            "no language can be added"
        )


def _source(base: Run, run: Run, data: Path, before: TwoBranch, schedule: Schedule) -> NewLanguageSource:
    """Build the batches and the model that learns the language."""
    recipe = run.recipe
    cached = embed_beforehand(base, run, data, before)
    if space := base.picture_space():
        run.keep_picture_space(space)
    texts, lines = training_texts(run, data), [caption.text for caption in cached.captions.captions]
    tokenizer = _tokenizer(base, run, cached)
    tokens = tokenize(tokenizer, lines)
    learned = TrainingData(
        recipe.data.languages,
        recipe.seed,
        tokenizer,
        cached.captions,
        tokens,
        texts,
        sentences_of(tokenizer, texts, cached.captions, tokens),
        picture_space=lambda: cached.views,
    )
    torch.manual_seed(recipe.seed)
    vocabulary, features = tokenizer.get_vocab_size(), before.picture_head.width
    after = build_model(recipe, data, vocabulary, features, before.backbone).to(pick_device())
    after.copy_heads(before)
    after.text.grow(before.text, learned)
    for part in (after.backbone, after.picture_head):
        if part is not None:
            part.requires_grad_(False)
    sha256 = data_sha256(cached.captions, texts)
    return NewLanguageSource(recipe, learned, cached, after, sha256, schedule.captions)


def _tokenizer(base: Run, run: Run, cached: CachedEmbeddings) -> Tokenizer:
    """Extend the vocabulary by a language's share for the new captions, and write it to the run."""
    settings, languages = run.recipe.tokenizer, run.recipe.data.languages
    lines = [caption.text for caption in cached.captions.captions if caption.language == languages[-1]]
    share = max(200, settings.vocabulary // len(base.recipe.data.languages))
    extended = extend_vocabulary(base.tokenizer(), lines, settings, share, run.recipe.text.max_tokens)
    replace_text(run.tokenizer_file, extended.to_str(pretty=True))
    return extended
