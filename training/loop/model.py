"""The model of a recipe, built or loaded."""

from collections.abc import Callable
from pathlib import Path

from torch import nn

from training.encoders.heads import build_head
from training.encoders.stored import BEST
from training.encoders.two_branch import TwoBranch
from training.encoders.vision import Backbone, load_backbone
from training.loop.checkpoint import load_best
from training.loop.run import Run
from training.recipes.recipe import Recipe


def build_model(
    recipe: Recipe, data: Path, vocabulary: int, features: int, backbone: Backbone | None
) -> TwoBranch:
    """Build the model with its initial weights: random ones, or a pretrained encoder's.

    data: the data folder. vocabulary: the number of tokens. features: F, the width of picture features.
    backbone: the vision backbone if it is tuned, else None.
    """
    languages, dimension = len(recipe.data.languages), recipe.head.dimension
    text = recipe.text.located(data).build(vocabulary, languages)
    text_head = build_head(recipe.head.text, text.width, dimension)
    kind = recipe.head.pictures if recipe.vision.space == "learned" else "none"
    picture_head = build_head(kind, features, dimension)
    model = TwoBranch(
        text,
        text_head,
        backbone,
        picture_head,
        vocabulary=vocabulary,
        languages=languages,
        dimension=dimension,
    )
    builders: dict[str, Callable[[], nn.Module]] = {}
    for objective in recipe.objectives.values():
        builders |= objective.modules(model)
    # Sorted by name: random weights must not depend on the order of a recipe's tables.
    for name in sorted(builders):
        model.learned[name] = builders[name]()
    return model


def load_model(run: Run, data: Path) -> TwoBranch:
    """Load the model of a run's best checkpoint, on the CPU, in evaluation mode."""
    vision = run.recipe.vision
    backbone = load_backbone(vision.backbone, data)
    tuned = backbone if vision.training == "tuned" else None
    width = backbone.width(vision.image_size)
    model = build_model(run.recipe, data, run.tokenizer().get_vocab_size(), width, tuned)
    load_best(run.folder / BEST, model)
    return model.eval()
