"""The model card of a bundle, from what the run and the export measured. No figure is written by hand."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from index.encoder.bundle import BundleManifest
from index.encoder.pictures import Pictures
from index.languages import language
from training.data.settings import PICTOGRAM_SET
from training.data.terms import Terms
from training.recipes.files import shipped_recipes
from training.recipes.recipe import Recipe, load_recipe

WITHOUT_EFFECT = ("run",)  # tables that don't change what is learned

CARD_TEMPLATE = Path(__file__).with_name("card.md").read_text("utf-8")

UNPAIRED_NOTE = """No two captions
were ever paired: the languages meet only through the pictures."""
MINED_NOTE = """No two
sentences were ever given as a pair: the languages meet through the pictures, then through pairs that the
encoder found by itself."""

CAPTIONED_NOTE = "It knows what pictures show and says it in the words of their captions ({sets})."
DRAWINGS_NOTE = """It knows what drawings of pictograms show and what they are called: words, and hardly how
sentences are made of them."""
NAMED_NOTE = """What a language knows that has names of drawings alone are
words, and hardly how sentences are made of them."""

SEES_SECTION = """
## What it sees

`pictures.safetensors` has the vectors of {pictograms} pictograms in the space of the texts. Half of each is
the mean of its drawings, half that of its names; their artists are among the credits below. With them are
{others} pictures of other openly licensed sets, with which a language is taught (`passepartout
learn-language`); by `picture_space.safetensors` it is taught with pictures of your own.
"""
TERMS_SECTION = """
## Terms of the data

| learned from | licence |
|---|---|
{rows}
{bound}{credits}"""
RESTRICTED_NOTE = """
What is learned from {names} is not openly licensed, nor are these weights: use them for research only.
"""


def model_card(
    recipe: Recipe,
    manifest: BundleManifest,
    result: Mapping[str, Any],
    terms: Mapping[str, Terms],
    pictures: Pictures | None = None,
) -> str:
    """The card as Markdown.

    result: the run's result.json. terms: those of the data. pictures: those that the bundle has.
    """
    rows = [f"| {name} | {value:g} |" for name, value in manifest.measures.items()]
    return CARD_TEMPLATE.format(
        title=f"{manifest.name}@{manifest.version}",
        description=recipe.description,
        count=len(manifest.languages),
        dimension=manifest.dimension,
        pairing=MINED_NOTE if recipe.mining else UNPAIRED_NOTE,
        languages=", ".join(f"{language(code).name} ({code})" for code in manifest.languages),
        recipe=recipe.name,
        recipe_sha=recipe.sha256[:16],
        data=manifest.data.name if manifest.data else "",
        data_sha=manifest.data.sha256[:16] if manifest.data else "",
        pictures=result["pictures"],
        captions=result["captions"],
        epochs=result["epochs"],
        seconds=result["seconds"],
        best_epoch=result["best_epoch"],
        max_tokens=manifest.max_tokens,
        precision=manifest.precision,
        licence=manifest.licence,
        measures="\n".join(rows),
        kept="it chose the checkpoint" if recipe.run.keep == "best" else "the last checkpoint was kept",
        calibration=_calibration(manifest),
        sees=_sees(pictures) if pictures else "",
        made=" ".join([f"    passepartout train {recipe.name} --data DIR --out RUN", *_overrides(recipe)]),
        knows=_knows(recipe),
        terms=_terms(terms),
    )


def _sees(pictures: Pictures) -> str:
    count = len(pictures.of_set(PICTOGRAM_SET).names)
    return SEES_SECTION.format(pictograms=count, others=len(pictures.names) - count)


def _knows(recipe: Recipe) -> str:
    captioned = [name for name in recipe.data.sets if name != PICTOGRAM_SET]
    if not captioned:
        return DRAWINGS_NOTE
    known = CAPTIONED_NOTE.format(sets=", ".join(captioned))
    return f"{known} {NAMED_NOTE}" if PICTOGRAM_SET in recipe.data.sets else known


def _terms(terms: Mapping[str, Terms]) -> str:
    rows = [f"| `{name}`: {stated.title} | {stated.licence} |" for name, stated in terms.items()]
    closed = [f"`{name}`" for name, stated in terms.items() if not stated.open]
    return TERMS_SECTION.format(
        rows="\n".join(rows),
        bound=RESTRICTED_NOTE.format(names=", ".join(closed)) if closed else "",
        credits="".join(
            f"\nCredits of `{name}`: {', '.join(stated.credits)}.\n"
            for name, stated in terms.items()
            if stated.credits
        ),
    )


def _calibration(manifest: BundleManifest) -> str:
    calibration = manifest.calibration.sentence
    return (
        f"Confidence was fitted on {calibration.n} answers, half of them to questions whose right answer was "
        f"not\nthere (expected calibration error {calibration.ece:.3f})."
    )


def _overrides(recipe: Recipe) -> list[str]:
    """What `--set` changed of a shipped recipe, each as an option; nothing for a recipe of one's own."""
    if recipe.name not in shipped_recipes():
        return []
    shipped = _leaves(load_recipe(recipe.name).model_dump(mode="json"))
    without_effect = {*WITHOUT_EFFECT, *(("text.start",) if recipe.stages else ())}  # a run of its stages
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
