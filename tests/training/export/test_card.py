"""The card of the shipped bundles, from their recipes and manifests."""

from pathlib import Path

import pytest

from index.encoder.bundle import open_bundle
from index.encoder.lineage import Lineage
from training.data.terms import data_terms
from training.export.card import model_card
from training.recipes.recipe import load_recipe

MODELS = Path(__file__).parents[3] / "models"
RESULT = {"pictures": 10, "captions": 20, "best_epoch": 2}


SETS = ("photos", "storybooks", "stamps", "flashcards", "mulberry", "mapicons", "art4apps", "bookdash")


def limits(name: str, data: Path) -> str:
    recipe = load_recipe(name)
    lineage = Lineage(sources=data_terms(data, recipe.data))
    manifest = open_bundle(MODELS / name).manifest.model_copy(update={"lineage": lineage})
    card = model_card(recipe, manifest, RESULT)
    return " ".join(card.split("## Limits")[1].split("## Made by")[0].split())


def test_it_says_what_was_seen(tmp_path: Path) -> None:
    small, opened = limits("small", tmp_path), limits("open", tmp_path)
    seen = f"in the words of their captions ({', '.join(SETS)})."
    assert small.startswith(f"It knows what pictures show and says it {seen}")
    assert "that has names of drawings alone" in small
    assert "(storybooks, flashcards, mapicons, bookdash)" in opened
    assert "photograph" not in opened


@pytest.mark.parametrize(("name", "bound"), [("small", True), ("open", False)])
def test_terms_of_the_data_go_with_what_was_learned_from_them(name: str, bound: bool, tmp_path: Path) -> None:
    found = limits(name, tmp_path)
    assert ("not openly licensed, nor are these weights: use them for research only" in found) == bound
    assert ("What is learned from `photos`, `stamps`" in found) == bound
    assert ("GPL-2.0-or-later" in found) == bound
    assert "CC BY-SA 3.0" in found
    assert "OpenMoji (CC BY-SA 4.0)" in found


def test_those_who_drew_are_credited_by_name(tmp_path: Path) -> None:
    (tmp_path / "storybooks").mkdir()
    rows = "0001\tA Tall Man\tAnna Adeoye\n0002\tAt Sea\tBen Bello, Anna Adeoye\n"
    (tmp_path / "storybooks" / "stories.tsv").write_text(rows, "utf-8")
    assert "Credits of `storybooks`: African Storybook, Anna Adeoye, Ben Bello." in limits("open", tmp_path)


def test_it_says_how_it_was_made(tmp_path: Path) -> None:
    manifest = open_bundle(MODELS / "open").manifest
    changed = (
        "text.start=models/open",
        "mining.begin=1",
        'data.languages=["en","de"]',
        "data.weights.storybooks=3",
        "run.threads=1",
    )
    made = {
        overrides: model_card(load_recipe("open", overrides), manifest, RESULT).split("## Made by")[1]
        for overrides in ((), changed)
    }
    went_on = load_recipe("open").after(tmp_path / "run-3")
    assert "train open --data DIR --out RUN\n" in model_card(went_on, manifest, RESULT)
    assert made[()].split("\n")[2] == "    passepartout train open --data DIR --out RUN"
    assert made[changed].split("\n")[2] == (
        '    passepartout train open --data DIR --out RUN --set \'data.languages=["en", "de"]\' '
        "--set data.weights.storybooks=3.0 --set text.start=models/open --set 'stages=[]'"
    )
    assert "run.threads" not in made[changed], "it changes nothing that is learned"
