"""Finds the papers' rooms, the packages in training/papers, so that nothing outside them names one.

Importing the files of a room registers its objectives and encoders under the names that recipes use; its
folder `recipes` has its recipes.
"""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

PAPERS = "training.papers"
CORE = ("training.encoders", "training.objectives")


def open_rooms() -> None:
    """Import every file of the rooms, the core's too, so that all objectives and encoders are registered."""
    papers = (module for module in iter_modules(import_module(PAPERS).__path__, f"{PAPERS}.") if module.ispkg)
    for room in (*CORE, *(paper.name for paper in papers)):
        for module in iter_modules(import_module(room).__path__, f"{room}."):
            import_module(module.name)


def recipe_folders() -> list[Path]:
    """The folders with recipes: that of the shipped ones, and one in each room."""
    papers = (Path(folder) for folder in import_module(PAPERS).__path__)
    return [
        Path(__file__).parent,
        *(folder for paper in papers for folder in sorted(paper.glob("*/recipes"))),
    ]
