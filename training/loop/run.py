"""The folder of a training run.

    recipe.json           the recipe as trained, overrides in
    data.sha256           which captions of which pictures it is trained on
    lineage.json          the terms of that data, and what it goes on from (prepare.py)
    tokenizer.json        the vocabulary learned from its captions
    picture_space.safetensors  where its texts lie among pictures, in a whitened space (a bundle's file)
    log.jsonl             a JSON object a line: steps (loss and its parts) and validations
    last.safetensors      everything needed to continue: model, optimiser, counters
    pseudopairs-N.safetensors  the pairs of sentences mined before epoch N, if the recipe mines
    best.safetensors      the model with the best validation so far
    result.json           written at the end: measures and time; its presence says the run is complete

Every file but the log is replaced whole by rename, so that a killed run leaves the last good state. The log
is cut back to the checkpoint when a run goes on.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from tokenizers import Tokenizer

from index.encoder.bundle import PICTURE_SPACE, TOKENIZER, open_bundle
from index.encoder.lineage import Lineage
from index.encoder.picture_space import PictureSpace, read_picture_space
from index.errors import DamagedError, RecipeError, UsageError
from index.storage.files import replace_bytes, replace_text
from index.storage.manifest import MANIFEST_NAME
from training.encoders.stored import RESULT
from training.recipes.recipe import Recipe

RECIPE, DATA, LINEAGE = "recipe.json", "data.sha256", "lineage.json"
LOG, LAST = "log.jsonl", "last.safetensors"


@dataclass(frozen=True)
class Run:
    """A run's folder and its recipe."""

    folder: Path
    recipe: Recipe

    def pseudopairs_file(self, epoch: int) -> Path:
        """The pairs mined before that epoch."""
        return self.folder / f"pseudopairs-{epoch}.safetensors"

    def bind(self, data_sha256: str) -> None:
        """Record the data of a new run, or check that it is unchanged. UsageError if it is other data."""
        file = self.folder / DATA
        if not file.is_file():
            replace_text(file, data_sha256 + "\n")
        elif file.read_text(encoding="utf-8").strip() != data_sha256:
            raise UsageError(
                f"{self.folder} was trained on other data; give the same --data or another --out"
            )

    def discard(self) -> None:
        """Remove the files of a run that failed before its first step, to free its folder."""
        for name in (RECIPE, DATA, LINEAGE, TOKENIZER, PICTURE_SPACE):
            (self.folder / name).unlink(missing_ok=True)

    def tokenizer(self) -> Tokenizer:
        """The run's vocabulary. DamagedError if it can't be read."""
        try:
            return Tokenizer.from_file(str(self.folder / TOKENIZER))
        except Exception as error:  # tokenizers raises plain Exception
            raise DamagedError(f"{self.folder / TOKENIZER} can't be read: {error}") from None

    def picture_space(self) -> PictureSpace:
        """The picture space of a run that has begun and has one. DamagedError if it can't be read."""
        return read_picture_space(self.folder / PICTURE_SPACE, self.recipe.head.dimension)

    def keep_picture_space(self, space: PictureSpace) -> None:
        """Write the run's picture space, which is the same from then on."""
        replace_bytes(self.folder / PICTURE_SPACE, space.packed())

    def log(self, entry: dict[str, Any]) -> None:
        """Append one line to the log."""
        with (self.folder / LOG).open("a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")

    def log_size(self) -> int:
        """Bytes in the log."""
        return (self.folder / LOG).stat().st_size if (self.folder / LOG).exists() else 0

    def cut_log(self, size: int) -> None:
        """Truncate the log to the `size` in bytes that it had at a checkpoint."""
        if self.log_size() > size:
            os.truncate(self.folder / LOG, size)

    def finish(self, result: dict[str, Any]) -> None:
        replace_text(self.folder / RESULT, json.dumps(result, indent=1) + "\n")

    def result(self) -> dict[str, Any]:
        """Read result.json. UsageError if the run has not finished."""
        if not (self.folder / RESULT).is_file():
            raise UsageError(
                f"{self.folder} is not a finished run; continue it with passepartout train --resume"
            )
        result: dict[str, Any] = json.loads((self.folder / RESULT).read_text(encoding="utf-8"))
        return result


def create_run(folder: Path, recipe: Recipe, *, resume: bool) -> Run:
    """Create a run or, with `resume`, open an existing one of the same recipe.

    Raises UsageError if the folder holds a run of another recipe, or any run without `resume`.
    """
    described = folder / RECIPE
    if described.is_file():
        if not resume:
            raise UsageError(
                f"{folder} already contains a run; use --resume to continue it, or another --out"
            )
        if open_run(folder).recipe != recipe:
            raise UsageError(
                f"{folder} was trained by another recipe or other --set values; give another --out"
            )
        return Run(folder, recipe)
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty and contains no run; use another --out")
    folder.mkdir(parents=True, exist_ok=True)
    replace_text(described, recipe.model_dump_json(indent=1) + "\n")
    return Run(folder, recipe)


def open_run(folder: Path) -> Run:
    """Open an existing run. Raises UsageError if there is none, DamagedError if its recipe can't be read."""
    described = folder / RECIPE
    if not described.is_file():
        raise UsageError(f"{folder} contains no training run")
    try:
        return Run(folder, Recipe.model_validate_json(described.read_bytes()))
    except (ValidationError, RecipeError):
        raise DamagedError(
            f"{described} is not a recipe of this version; train into another folder"
        ) from None


def lineage_of(folder: Path) -> Lineage:
    """What a bundle, or a finished run and itself, was made from; its name alone if it does not say."""
    if (folder / LINEAGE).is_file():
        run = open_run(folder)
        cost = {key: run.result()[key] for key in ("epochs", "seconds")}
        return Lineage.model_validate_json((run.folder / LINEAGE).read_bytes()).joined(Lineage(**cost))
    bundle = open_bundle(folder) if (folder / MANIFEST_NAME).is_file() else None
    return (bundle and bundle.manifest.lineage) or Lineage(unknown=(bundle.name if bundle else folder.name,))
