"""Finds the papers' rooms, the packages in training/papers, so that nothing outside them names one.

Importing a room registers its objectives and encoders under the names that recipes use; its folder `recipes`
has its recipes.
"""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

PAPERS = "training.papers"


def open_rooms() -> None:
    """Import every room, so that all objectives and encoders are registered."""
    for module in iter_modules(import_module(PAPERS).__path__):
        if module.ispkg:
            import_module(f"{PAPERS}.{module.name}")


def recipe_folders() -> list[Path]:
    """The folders with recipes: that of the shipped ones, and one in each room."""
    papers = (Path(folder) for folder in import_module(PAPERS).__path__)
    return [
        Path(__file__).parent,
        *(folder for paper in papers for folder in sorted(paper.glob("*/recipes"))),
    ]
