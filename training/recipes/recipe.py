"""The recipe: everything that decides what a training run learns, as TOML.

A recipe is validated whole before anything is read; an unknown key or a value out of range is a RecipeError
that names it. training/recipes/NAME.toml are the shipped ones, training/papers/PAPER/recipes/NAME.toml the
papers'; a path to a file works as well (training.recipes.files).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, SerializeAsAny, ValidationError, field_validator, model_validator

from index.errors import RecipeError
from training.data.settings import DataSettings, SettingsTable, TokenizerSettings
from training.encoders.base import ENCODERS, EncoderSettings
from training.encoders.heads import HeadSettings
from training.encoders.vision import VisionSettings
from training.objectives.base import OBJECTIVES, Objective
from training.recipes.files import merged, open_rooms, read_recipe
from training.recipes.settings import MiningSettings, OptimiserSettings, RunSettings, ScheduleSettings

STAGES = "stages"


class Recipe(SettingsTable):
    """A validated recipe. Each table is documented at its class.

    stages: what comes before, each as a run of its own: tables that are laid over those of this recipe. Each
    stage begins with the encoder that the one before ended with, and so does the recipe itself, whose
    text.start is "stages"; the first begins from nothing. With another text.start there are none.
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")
    description: str
    seed: int = Field(default=0, ge=0)
    data: DataSettings
    tokenizer: TokenizerSettings = TokenizerSettings()  # a pretrained text encoder brings its own
    text: SerializeAsAny[EncoderSettings]
    vision: VisionSettings
    head: HeadSettings
    objectives: dict[str, SerializeAsAny[Objective]] = Field(min_length=1)
    mining: MiningSettings | None = None
    schedule: ScheduleSettings = ScheduleSettings()
    optimiser: OptimiserSettings
    run: RunSettings = RunSettings()
    stages: tuple[dict[str, Any], ...] = ()

    @field_validator("objectives", mode="before")
    @classmethod
    def _known_objectives(cls, tables: object) -> object:
        if not isinstance(tables, Mapping):
            return tables  # pydantic says what it should be
        open_rooms()
        if unknown := sorted(set(tables) - set(OBJECTIVES)):
            raise ValueError(f"unknown objective {unknown[0]}; there are {', '.join(sorted(OBJECTIVES))}")
        return {name: _table(OBJECTIVES[name], table, "objectives", name) for name, table in tables.items()}

    @field_validator("text", mode="before")
    @classmethod
    def _known_encoder(cls, table: object) -> object:
        if not isinstance(table, Mapping):
            return table  # pydantic says what it should be
        open_rooms()
        name = table.get("encoder")
        if name not in ENCODERS:
            raise ValueError(f"unknown encoder {name}; there are {', '.join(sorted(ENCODERS))}")
        return _table(ENCODERS[name], table, "text")

    @model_validator(mode="after")
    def _parts_fit(self) -> "Recipe":
        for missing in self.text.requires(self.vision):
            raise ValueError(missing)
        for name, objective in self.objectives.items():
            for missing in objective.requires(self):
                raise ValueError(f"objectives.{name} needs {missing}")
        if self.head.text == "none" and self.text.width != self.head.dimension:
            raise ValueError('head.text = "none" needs head.dimension = text.width')
        if self.text.brings_tokenizer and self.tokenizer != TokenizerSettings():
            raise ValueError("a pretrained text encoder brings its own: leave out the table [tokenizer]")
        self.schedule.check(self.objectives)
        self._mining_fits()
        if self.stages and not self.text.start:
            raise ValueError('stages needs text.start = "stages"')
        self.staged()
        return self

    def _mining_fits(self) -> None:
        paired = [name for name, objective in self.objectives.items() if "mined" in objective.inputs]
        if bool(self.mining) != bool(paired):
            raise ValueError("objectives.pseudopairs and the table [mining] need each other")
        if self.mining is None:
            return
        needed = {"languages": self.mining.languages, "pivots": self.mining.pivots[:1]}
        for name, codes in needed.items():
            if unknown := sorted(set(codes) - set(self.data.languages)):
                raise ValueError(f"mining.{name}: {unknown[0]} is not one of data.languages")
        if self.mining.languages and not (self.text.averages_words and self.text.start):
            raise ValueError('mining.languages needs text.encoder = "bag" and text.start')
        if not (self.mining.captions or self.data.texts):
            raise ValueError("mining.captions = false leaves only the sentences of data.texts: name them")

    def staged(self) -> list["Recipe"]:
        """The recipes of the stages before, in order. ValueError if one is not valid."""
        if self.text.start != STAGES:
            return []
        base = self.model_dump(mode="json", exclude={"stages"})
        recipes = []
        for number, stage in enumerate(self.stages):
            table = merged(base, stage)
            if number == 0:
                table["text"] = {
                    key: kept for key, kept in table["text"].items() if not key.startswith("start")
                }
            try:
                recipes.append(Recipe.model_validate(table))
            except (ValidationError, RecipeError) as error:
                problem = error if isinstance(error, RecipeError) else _first_problem(error)
                raise ValueError(f"stages[{number}]: {problem}") from None
        return recipes

    def after(self, start: Path) -> "Recipe":
        """The same, going on from the run of the stage before."""
        text = self.text.model_copy(update={"start": str(start)})
        return self.model_copy(update={"text": text})

    @property
    def sha256(self) -> str:
        """A digest of the recipe's values, whatever the layout of its file."""
        described = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(described.encode()).hexdigest()


def load_recipe(name: str, overrides: Iterable[str] = ()) -> Recipe:
    """Read the recipe of that name or path, with overrides such as `run.keep=last`. Raises RecipeError."""
    table = read_recipe(name)
    for override in overrides:
        _lay_over(table, override)
        if override.startswith("text.start=") and override != f"text.start={STAGES}":
            table.pop("stages", None)  # another start is in their place
    try:
        return Recipe.model_validate(table)
    except ValidationError as error:
        raise RecipeError(f"recipe {name}: {_first_problem(error)}") from None
    except RecipeError as error:  # of an objective or an encoder
        raise RecipeError(f"recipe {name}: {error}") from None


def _table(kind: type[SettingsTable], table: object, *place: str) -> SettingsTable:
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        raise RecipeError(_first_problem(error, *place)) from None


def _lay_over(table: dict[str, Any], override: str) -> None:
    key, separator, text = override.partition("=")
    if not separator or not key:
        raise RecipeError(f"--set {override}: write it as key=value, as in optimiser.epochs=3")
    *path, last = key.split(".")
    for part in path:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise RecipeError(f"--set {override}: {part} is a value, not a table")
    table[last] = _value(text)


def _value(text: str) -> Any:  # noqa: ANN401
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _first_problem(error: ValidationError, *above: str) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join([*above, *map(str, first["loc"])])
    if first["type"] == "extra_forbidden":
        return f"unknown key {place}"
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
