"""The model card of a bundle, from what the run and the export measured. No figure is written by hand."""

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from index.encoder.bundle import BundleManifest
from index.encoder.lineage import Lineage
from index.encoder.pictures import Pictures
from index.languages import language
from training.data.settings import PICTOGRAM_SET
from training.recipes.files import shipped_recipes
from training.recipes.recipe import Recipe, load_recipe

CARD_TEMPLATE = Path(__file__).with_name("card.md").read_text("utf-8")
UNSEEN = "## What it sees.*?(?=## Limits)"  # left out of the card of a bundle without pictures

UNPAIRED_NOTE = """No two captions
were ever paired: the languages meet only through the pictures."""
MINED_NOTE = """No two
sentences were ever given as a pair: the languages meet through the pictures, then through pairs that the
encoder found by itself."""

CAPTIONED_NOTE = "It knows what pictures show and says it in the words of their captions ({sets})."
NAMED_NOTE = """What a language knows that has names of drawings alone are
words, and hardly how sentences are made of them."""

RESTRICTED_NOTE = """
What is learned from {names} is not openly licensed, nor are these weights: use them for research only.
"""
UNKNOWN_NOTE = """
It goes on from {names}. What was learned there is not recorded: more than these may be owed credit.
"""
CREDITS_NOTE = "\nCredits of `{}`: {}.\n"


def model_card(
    recipe: Recipe,
    manifest: BundleManifest,
    result: Mapping[str, Any],
    pictures: Pictures | None = None,
) -> str:
    """The card as Markdown.

    result: the run's result.json. pictures: those that the bundle has.
    """
    lineage, drawn = manifest.lineage or Lineage(), pictures.of_set(PICTOGRAM_SET).names if pictures else ()
    template = CARD_TEMPLATE if pictures else re.sub(UNSEEN, "", CARD_TEMPLATE, flags=re.DOTALL)
    measures = [f"| {name} | {value:g} |" for name, value in manifest.measures.items()]
    sources = [f"| `{name}`: {source.title} | {source.licence} |" for name, source in lineage.sources.items()]
    return template.format(
        recipe=recipe,
        manifest=manifest,
        result=result,
        lineage=lineage,
        besides=f", without {_names(lineage.unknown)}, of unknown cost" if lineage.unknown else "",
        count=len(manifest.languages),
        languages=", ".join(f"{language(code).name} ({code})" for code in manifest.languages),
        pairing=MINED_NOTE if recipe.mining else UNPAIRED_NOTE,
        measures="\n".join(measures),
        kept="it chose the checkpoint" if recipe.run.keep == "best" else "the last checkpoint was kept",
        pictograms=len(drawn),
        others=len(pictures.names) - len(drawn) if pictures else 0,
        knows=_knows(recipe),
        sources="\n".join(sources),
        notes=_notes(lineage),
        made=" ".join([f"    passepartout train {recipe.name} --data DIR --out RUN", *_overrides(recipe)]),
    )


def _knows(recipe: Recipe) -> str:
    captioned = [name for name in recipe.data.sets if name != PICTOGRAM_SET]
    known = CAPTIONED_NOTE.format(sets=", ".join(captioned or recipe.data.sets))
    return f"{known} {NAMED_NOTE}" if PICTOGRAM_SET in recipe.data.sets else known


def _notes(lineage: Lineage) -> str:
    """What the terms bind to, and who is to be credited: a paragraph each."""
    closed = _names(name for name, source in lineage.sources.items() if not source.open)
    notes = [RESTRICTED_NOTE.format(names=closed)] if closed else []
    notes += [UNKNOWN_NOTE.format(names=_names(lineage.unknown))] if lineage.unknown else []
    credits = {name: ", ".join(source.credits) for name, source in lineage.sources.items()}
    return "".join([*notes, *(CREDITS_NOTE.format(name, names) for name, names in credits.items() if names)])


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _overrides(recipe: Recipe) -> list[str]:
    """What `--set` changed of a shipped recipe, each as an option; nothing for a recipe of one's own."""
    if recipe.name not in shipped_recipes():
        return []
    shipped = _leaves(load_recipe(recipe.name).model_dump(mode="json"))
    without_effect = {"run", "text.start" if recipe.stages else ""}  # a start that is a run of its stages
    return [
        f"--set {shlex.quote(f'{key}={value if isinstance(value, str) else json.dumps(value)}')}"
        for key, value in _leaves(recipe.model_dump(mode="json")).items()
        if (key not in shipped or shipped[key] != value) and not {key, key.split(".")[0]} & without_effect
    ]


def _leaves(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The values of nested tables by their dotted keys."""
    leaves: dict[str, Any] = {}
    for key, value in table.items():
        leaves |= _leaves(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return leaves
