"""Transfers captions between pictures of different languages (Kádár et al. 2019, 2.2 and 2.3).

A caption's nearest ones in other languages, by a finished run's encoder or from translations on disk, become
captions of its picture.
"""

import shutil
from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from evaluation.suites.sets import languages_in, read_aligned
from index.errors import DataError, UsageError
from index.text.normalisation import clean
from training.data.captions import CaptionedPictures
from training.data.tokens import tokenize
from training.data.transfer import TransferredCaption, write_transferred
from training.loop.mining.mutual import BLOCK, mine
from training.loop.model import load_model
from training.loop.prepare import training_captions
from training.loop.run import Run, open_run
from training.loop.validation import embed_texts
from training.recipes.recipe import Recipe
from training.recipes.settings import TransferSettings

MOST_LINES = 10_000_000  # of aligned text
CSLS_NEIGHBOURS = 10

Vectors = NDArray[np.float32]
RankedPairs = tuple[NDArray[np.int64], Vectors]  # (m, 2) rows, (m,) cosines


def start_folder(settings: TransferSettings, out: Path) -> Path:
    """The folder of the run that the run at `out` starts from."""
    return Path(settings.start) if settings.start else out.with_name(f"{out.name}-start")


def start_recipe(recipe: Recipe) -> Recipe:
    """The recipe of the first run: without the table [transfer] and the losses on transferred pairs."""
    table = recipe.model_dump(mode="json", exclude={"transfer"})
    if recipe.mining is None:
        left_out = [name for name, objective in recipe.objectives.items() if "mined" in objective.inputs]
        for name in left_out:
            del table["objectives"][name]
        sampling = {name: p for name, p in recipe.schedule.sampling.items() if name not in left_out}
        total = sum(sampling.values())
        table["schedule"]["sampling"] = {name: p / total for name, p in sampling.items()}
    return Recipe.model_validate(table)


def finished_start(recipe: Recipe, out: Path) -> Run:
    """Open the run that `recipe` starts from. UsageError if it is unfinished or its weights do not fit."""
    settings = recipe.transfer
    assert settings is not None, "only recipes with a table [transfer] have a start"
    start = open_run(start_folder(settings, out))
    start.result()
    if settings.then == "fine-tune":
        for part in ("text", "head", "vision"):
            if getattr(start.recipe, part) != getattr(recipe, part):
                raise UsageError(
                    f"{start.folder} was trained with another table [{part}], so its weights do not fit: set "
                    'transfer.then = "restart"'
                )
    return start


def take_up(run: Run, data: Path, start: Run | None) -> None:
    """Write the transferred captions into the run's folder and, for fine-tuning, the start's weights.

    Existing files stay. DataError if no caption can be transferred.
    """
    settings = run.recipe.transfer
    if settings is None or run.transferred_file.is_file():
        return
    if settings.then == "fine-tune":
        assert start is not None, "a recipe that fine-tunes has a start"
        shutil.copyfile(start.tokenizer_file, run.tokenizer_file)
        shutil.copyfile(start.best_file, run.start_file)
        if space := start.picture_space():
            run.keep_picture_space(space)
    captions = training_captions(run, data)
    if settings.aligned:
        transferred = translations(captions, data / "text", settings.aligned)
    else:
        assert start is not None, "a recipe that looks for pseudopairs has a start"
        transferred = pseudopairs(captions, start, data, settings)
    if not transferred:
        raise DataError(_nothing(settings))
    write_transferred(run.transferred_file, captions, transferred)


def pseudopairs(
    captions: CaptionedPictures, start: Run, data: Path, settings: TransferSettings
) -> list[TransferredCaption]:
    """Find each caption's nearest ones in other languages by the start's encoder, filtered by `settings`."""
    numbers: dict[str, list[int]] = {}
    for number, caption in enumerate(captions.captions):
        numbers.setdefault(caption.language, []).append(number)
    model, tokenizer = load_model(start, data), start.tokenizer()
    vectors = {}
    for language, rows in numbers.items():
        texts = [captions.captions[row].text for row in rows]
        with torch.inference_mode():
            vectors[language] = embed_texts(model, tokenize(tokenizer, texts), torch.device("cpu"))
    return [
        TransferredCaption(
            numbers[first][i], second, captions.captions[numbers[second][j]].text, float(cosine)
        )
        for (first, second), (rows, cosines) in nearest(vectors, settings, start.recipe.seed).items()
        for (i, j), cosine in zip(rows, cosines, strict=True)
    ]


def nearest(
    vectors: Mapping[str, Vectors], settings: TransferSettings, seed: int = 0
) -> dict[tuple[str, str], RankedPairs]:
    """Find each sentence's nearest one in every other language, as far as the filter of `settings` keeps it.

    vectors: language -> (n, d) unit rows. Returns (language, other) -> (m, 2) rows, in the order of the
    sentences, and (m,) cosines.
    """
    if settings.nearest == "mutual":
        return _both_ways(vectors, mine(vectors, keep=settings.keep, neighbours=CSLS_NEIGHBOURS, seed=seed))
    ranked_pairs = {}
    for first, second in permutations(vectors, 2):
        best, cosines = _nearest(vectors[first], vectors[second])
        kept_rows = np.sort(np.argsort(-cosines, kind="stable")[: round(settings.keep * len(cosines))])
        ranked_pairs[first, second] = np.stack([kept_rows, best[kept_rows]], axis=1), cosines[kept_rows]
    return ranked_pairs


def _nearest(queries: Vectors, candidates: Vectors) -> tuple[NDArray[np.int64], Vectors]:
    """For each query (n, d) the row of the candidate (m, d) with the highest cosine, and that cosine."""
    best, cosines = np.empty(len(queries), np.int64), np.empty(len(queries), np.float32)
    for start in range(0, len(queries), BLOCK):
        block = queries[start : start + BLOCK] @ candidates.T
        best[start : start + BLOCK] = block.argmax(axis=1)
        cosines[start : start + BLOCK] = block.max(axis=1)
    return best, cosines


def _both_ways(
    vectors: Mapping[str, Vectors], pairs: Mapping[tuple[str, str], NDArray[np.int64]]
) -> dict[tuple[str, str], RankedPairs]:
    ranked_pairs = {}
    for (first, second), rows in pairs.items():
        cosines = np.einsum("nd,nd->n", vectors[first][rows[:, 0]], vectors[second][rows[:, 1]])
        ranked_pairs[first, second] = rows, cosines
        order = np.argsort(rows[:, 1], kind="stable")
        ranked_pairs[second, first] = rows[order, ::-1], cosines[order]
    return ranked_pairs


def translations(captions: CaptionedPictures, folder: Path, name: str) -> list[TransferredCaption]:
    """For each caption that is a line of `folder`/NAME.LANG.txt, the same line in the other languages."""
    languages = [code for code in languages_in(folder, ".txt", f"{name}.") if code in captions.languages]
    if len(languages) < 2:
        raise DataError(
            f"{folder} has {name}.LANG.txt for {', '.join(languages) or 'none'} of the recipe's languages: "
            "two are needed, line i the same in each"
        )
    lines = read_aligned(folder, languages, prefix=f"{name}.", most=MOST_LINES)
    places = {code: _first_places(lines[code]) for code in languages}
    transferred = []
    for number, caption in enumerate(captions.captions):
        line_number = places.get(caption.language, {}).get(clean(caption.text))
        if line_number is not None:
            other_languages = (code for code in languages if code != caption.language)
            transferred += [
                TransferredCaption(number, code, lines[code][line_number]) for code in other_languages
            ]
    return transferred


def _first_places(lines: Sequence[str]) -> dict[str, int]:
    return {clean(line): line_number for line_number, line in reversed(list(enumerate(lines)))}


def _nothing(settings: TransferSettings) -> str:
    if settings.aligned:
        return (
            f"no caption stands word for word in text/{settings.aligned}.LANG.txt: translate the captions "
            "and put them there, line by line beside their translations"
        )
    return "no two sentences are each other's nearest: the start has learned nothing that its languages share"
