"""The card of the shipped bundles, from their recipes and manifests."""

from pathlib import Path

import pytest

from index.encoder.bundle import open_bundle
from training.export.card import model_card
from training.recipes.recipe import load_recipe

MODELS = Path(__file__).parents[3] / "models"
RESULT = {"pictures": 10, "captions": 20, "epochs": 3, "seconds": 480.0, "best_epoch": 2}


def limits(name: str) -> str:
    card = model_card(load_recipe(name), open_bundle(MODELS / name).manifest, RESULT)
    assert "not metered; 2 Wh" in card
    return " ".join(card.split("## Limits")[1].split("## Made by")[0].split())


def test_it_says_what_was_seen() -> None:
    small, opened = limits("small"), limits("open")
    assert small.startswith("It knows what photographs show")
    assert "that has names of drawings alone" in small
    assert opened.startswith("It knows what drawings of pictograms show")
    assert "photograph" not in opened


@pytest.mark.parametrize(("name", "bound"), [("small", True), ("open", False)])
def test_terms_of_photographs_go_with_what_was_learned_from_them(name: str, bound: bool) -> None:
    assert ("research only" in limits(name)) == bound
