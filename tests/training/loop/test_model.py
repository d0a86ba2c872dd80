from pathlib import Path

import numpy as np
import pytest
import torch

from tests.training.tiny import BAG, FROZEN, TRANSFORMER, recipe
from training.data.auxiliary import Batch
from training.data.tokens import pad
from training.encoders.two_branch import TwoBranch
from training.encoders.vision import Backbone
from training.loop.model import build_model
from training.objectives.base import Forward, weighted_losses
from training.recipes.recipe import Recipe

VOCABULARY = 60


def built(recipe: Recipe, features: int = 64, backbone: Backbone | None = None) -> TwoBranch:
    torch.manual_seed(0)
    return build_model(recipe, Path(), VOCABULARY, features, backbone)


def read(model: TwoBranch, recipe: Recipe, batch: Batch) -> Forward:
    return Forward(model, batch, recipe.objectives)


def batch(width: int = 64, views: int = 2, n: int = 8) -> Batch:
    draw = np.random.default_rng(0)
    rows = [draw.integers(4, VOCABULARY, draw.integers(2, 9)).astype(np.int32) for _ in range(n)]
    pictures = tuple(torch.from_numpy(draw.standard_normal((n, width), np.float32)) for _ in range(views))
    return Batch(*pad(rows, torch.device("cpu")), pictures)


def test_both_branches_end_on_the_unit_sphere_of_one_space(tmp_path: Path) -> None:
    given = recipe(TRANSFORMER, tmp_path, *FROZEN)
    with torch.no_grad():
        step = read(built(given).eval(), given, batch())
    for rows in (step.text, *step.views):
        assert rows.shape == (8, 8)
        assert torch.allclose(rows.norm(dim=1), torch.ones(8), atol=1e-6)
    assert len(step.views) == 2


def test_a_whitened_space_is_given_not_learned(tmp_path: Path) -> None:
    model = built(recipe(BAG, tmp_path), features=16).eval()
    pictures = torch.randn(5, 16)
    assert torch.allclose(model.embed_pictures(pictures), pictures / pictures.norm(dim=1, keepdim=True))
    assert {name.split(".")[0] for name, _ in model.named_parameters()} == {"text"}


def test_a_tuned_backbone_learns_and_a_frozen_one_is_not_in_the_model(
    tmp_path: Path, backbone: Backbone
) -> None:
    tuned = built(recipe(TRANSFORMER, tmp_path), backbone=backbone)
    assert any(name.startswith("backbone.") for name, _ in tuned.named_parameters())
    assert tuned.embed_pictures(torch.randn(2, 3, 32, 32)).shape == (2, 8)
    frozen = built(recipe(TRANSFORMER, tmp_path, *FROZEN))
    assert not any(name.startswith("backbone.") for name, _ in frozen.named_parameters())


def test_the_cloze_asks_for_the_true_ids_of_masked_tokens(tmp_path: Path) -> None:
    asked = recipe(TRANSFORMER, tmp_path, *FROZEN, "objectives.cloze.mask=0.5")
    given = batch()
    torch.manual_seed(3)
    logits, truth = read(built(asked).eval(), asked, given)["cloze"]
    assert logits.shape == (len(truth), VOCABULARY)
    assert 8 < len(truth) < given.mask.sum()
    left = given.ids[given.mask.bool()].tolist()
    for token in truth.tolist():
        left.remove(token)  # every label is a token of the batch, none twice


def test_losses_are_weighted_as_the_recipe_says(tmp_path: Path) -> None:
    """Globetrotter, eq. 5."""
    given = recipe(TRANSFORMER, tmp_path, *FROZEN, "objectives.cross_modal.weight=0.7")
    torch.manual_seed(0)
    outputs = read(built(given).eval(), given, batch())
    found = weighted_losses(given.objectives, outputs)
    assert set(found) == {"transitive", "visual_contrastive", "cross_modal", "cloze"}
    for name, weight in {
        "transitive": 1.0,
        "visual_contrastive": 0.2,
        "cross_modal": 0.7,
        "cloze": 0.2,
    }.items():
        assert found[name].item() == pytest.approx(weight * given.objectives[name](outputs).item())


def test_every_parameter_of_the_papers_system_learns(tmp_path: Path, backbone: Backbone) -> None:
    given = recipe(TRANSFORMER, tmp_path, "objectives.transitive.margin=0.1")
    model = built(given, backbone=backbone)
    ids, mask = batch().ids, batch().mask
    pictures = tuple(torch.randn(8, 3, 32, 32, generator=torch.Generator().manual_seed(i)) for i in (1, 2))
    losses = weighted_losses(given.objectives, read(model, given, Batch(ids, mask, pictures)))
    torch.stack(list(losses.values())).sum().backward()  # type: ignore[no-untyped-call]
    still = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    # A residual branch before a final ReLU may be dead for a random backbone; nothing else may.
    assert not [name for name in still if not name.startswith("backbone.")]
    assert len(still) < 6
