"""Transfers captions between pictures of different languages (Kádár et al. 2019, 2.2 and 2.3).

A caption's nearest ones in other languages, by a finished run's encoder or from translations on disk, become
captions of its picture.
"""

import shutil
from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, model_validator

from evaluation.suites.sets import languages_in, read_aligned, read_table
from index.errors import DamagedError, DataError, UsageError
from index.storage.files import replace_text
from index.text.normalisation import clean
from training.data.captions import CaptionedPictures
from training.data.synthetic import TEXT_SET
from training.data.tokens import tokenize
from training.data.training_data import TrainingData, TransferredCaption
from training.loop.model import load_model
from training.loop.prepare import training_captions
from training.loop.run import Run, open_run
from training.loop.transfer import Sampler, Train, Transfer, does
from training.loop.validation import embed_texts
from training.mining.mutual import BLOCK
from training.recipes.recipe import Recipe
from training.recipes.settings import TransferSettings

MOST_LINES = 10_000_000  # of aligned text

COLUMNS = ("picture", "language", "its caption", "language", "the caption it was given", "cosine")
TRANSFER_STREAM = 3  # keeps this draw apart from others of the same epoch
# The share of pairs that a filter of [transfer] keeps.
KEPT_SHARES = {"none": 1.0, "top": 0.25, "bottom": 0.75}

Numbers = NDArray[np.int64]
Vectors = NDArray[np.float32]
RankedPairs = tuple[NDArray[np.int64], Vectors]  # (m, 2) rows, (m,) cosines


class CaptionTransferSettings(TransferSettings):
    """Captions in other languages that are transferred to pictures: pseudopairs (Kádár et al. 2019, 2.2), or
    translations (2.3).

    start: a finished run of any recipe, whose encoder finds the pseudopairs; "": this recipe without the
    table is trained first, into RUN-start.
    filter: "top" keeps the 25 % most similar pairs of each two languages, "bottom" drops the 25 % least
    similar.
    then: "fine-tune" continues from the start's best weights, "restart" starts from scratch.
    share: the probability that a picture with transferred captions is shown with one of them.
    aligned: use translations instead of pseudopairs: the NAME of files text/NAME.LANG.txt whose lines
    correspond; a caption found there word for word gets the same line in the other languages.
    """

    start: str = ""
    filter: Literal["none", "top", "bottom"] = "none"
    share: float = Field(default=0.5, gt=0, lt=1)
    aligned: str = Field(default="", pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$|^$")

    @model_validator(mode="after")
    def _filters_have_similarities(self) -> "CaptionTransferSettings":
        if self.aligned and self.filter != "none":
            raise ValueError('translations have no similarity to filter by: leave filter = "none"')
        return self

    @property
    def keep(self) -> float:
        """The share of pairs that stays."""
        return KEPT_SHARES[self.filter]

    @property
    def needs_start(self) -> bool:
        """Whether another run comes first."""
        return not self.aligned or self.then == "fine-tune"

    @property
    def tiny(self) -> tuple[str, ...]:
        return (f"transfer.aligned={TEXT_SET}",) if self.aligned else ()


def start_folder(settings: CaptionTransferSettings, out: Path) -> Path:
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
    assert isinstance(settings, CaptionTransferSettings), "only recipes with the table have a start"
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


@does(CaptionTransferSettings)
class CaptionTransfer(Transfer):
    """A run that begins with captions found by another, or with translations."""

    settings: CaptionTransferSettings

    def begin(self, recipe: Recipe, data: Path, out: Path, train: Train) -> None:
        """Train the run that this one starts from, where necessary. UsageError if it cannot be used."""
        if self.settings.needs_start:
            if not self.settings.start:
                train(start_recipe(recipe), data, start_folder(self.settings, out))
            finished_start(recipe, out)

    def take_up(self, run: Run, data: Path) -> None:
        """Write the transferred captions into the run's folder and, for fine-tuning, the start's weights.

        Existing files stay. DataError if no caption can be transferred.
        """
        settings, recipe = self.settings, run.recipe
        if run.transferred_file.is_file():
            return
        start = finished_start(recipe, run.folder) if settings.needs_start else None
        if recipe.fine_tunes:
            assert start is not None, "a recipe that fine-tunes has a start"
            shutil.copyfile(start.tokenizer_file, run.tokenizer_file)
            shutil.copyfile(start.best_file, run.start_file)
            if space := start.picture_space():
                run.keep_picture_space(space)
        captions = training_captions(run, data)
        if settings.aligned:
            transferred = translations(captions, data / "text", settings.aligned)
            if not transferred:
                raise DataError(
                    f"no caption stands word for word in text/{settings.aligned}.LANG.txt: translate the "
                    "captions and put them there, line by line beside their translations"
                )
        else:
            assert start is not None, "a recipe that looks for pseudopairs has a start"
            transferred = pseudopairs(captions, start, data, settings)
        write_transferred(run.transferred_file, captions, transferred)

    def captions(self, run: Run, own: CaptionedPictures) -> list[TransferredCaption]:
        """Read the transferred captions of the run."""
        return read_transferred(run.transferred_file, own)

    def sampler(self, sampler: Sampler, data: TrainingData) -> "TransferSampler":
        """Draw a transferred caption in place of some of the sampler's."""
        return TransferSampler(sampler, data.shown, len(data.tokens), self.settings.share, data.seed)


def pseudopairs(
    captions: CaptionedPictures, start: Run, data: Path, settings: CaptionTransferSettings
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
        for (first, second), (rows, cosines) in nearest(vectors, settings).items()
        for (i, j), cosine in zip(rows, cosines, strict=True)
    ]


def nearest(
    vectors: Mapping[str, Vectors], settings: CaptionTransferSettings
) -> dict[tuple[str, str], RankedPairs]:
    """Find each sentence's nearest one in every other language, as far as the filter of `settings` keeps it.

    vectors: language -> (n, d) unit rows. Returns (language, other) -> (m, 2) rows, in the order of the
    sentences, and (m,) cosines.
    """
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


def write_transferred(
    file: Path, captions: CaptionedPictures, transferred: Sequence[TransferredCaption]
) -> None:
    """Write one tab-separated line per transferred caption; COLUMNS names the columns."""
    lines = []
    for new in transferred:
        old = captions.captions[new.caption]
        columns = (captions.pictures[old.picture], old.language, old.text, new.language, new.text)
        lines.append("\t".join((*columns, f"{new.similarity:.4f}")) + "\n")
    replace_text(file, "".join(lines))


def read_transferred(file: Path, captions: CaptionedPictures) -> list[TransferredCaption]:
    """Read what `write_transferred` wrote. DamagedError if it is missing or about other captions."""
    places = {(captions.pictures[c.picture], c.language, c.text): i for i, c in enumerate(captions.captions)}
    try:
        return [
            TransferredCaption(places[picture, language, old], new_language, text, float(cosine))
            for picture, language, old, new_language, text, cosine in read_table(file, COLUMNS)
        ]
    except (DataError, KeyError, ValueError):
        raise DamagedError(
            f"{file} is damaged or about other captions; train again into another folder"
        ) from None


class TransferSampler:
    """Replaces each caption of another sampler's batches, with probability `share`, by a transferred one.

    One of the picture's transferred captions is drawn uniformly; a picture without any keeps its own.
    The first `original` captions of `data` are the pictures' own, the rest transferred.
    """

    def __init__(
        self, sampler: Sampler, data: CaptionedPictures, original: int, share: float, seed: int
    ) -> None:
        self.sampler, self.share, self.seed = sampler, share, seed
        self._picture = [caption.picture for caption in data.captions[:original]]
        self._transferred: dict[int, list[int]] = {}
        for number, caption in enumerate(data.captions[original:], original):
            self._transferred.setdefault(caption.picture, []).append(number)

    def batches(self, epoch: int) -> list[Numbers]:
        """The epoch's batches of caption numbers; they depend on the seed and the epoch alone."""
        draw = np.random.default_rng([self.seed, epoch, TRANSFER_STREAM])
        return [
            np.asarray([self._shown(int(caption), draw) for caption in batch], dtype=np.int64)
            for batch in self.sampler.batches(epoch)
        ]

    def _shown(self, caption: int, draw: np.random.Generator) -> int:
        options = self._transferred.get(self._picture[caption])
        if options is None or draw.random() >= self.share:
            return caption
        return options[int(draw.integers(len(options)))]
