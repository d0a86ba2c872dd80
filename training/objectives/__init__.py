"""One loss a file, named as in its paper; a recipe names them in its `[objectives.NAME]` tables.

An objective names what it reads of a step, builds the modules that it trains besides the encoders, and
computes a loss (`base`). Every file here is imported, so that a new paper's loss needs one new file only.
"""

from importlib import import_module
from pkgutil import iter_modules

from training.objectives.base import OBJECTIVES, Contrastive, Forward, Objective, Step, weighted_losses

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["OBJECTIVES", "Contrastive", "Forward", "Objective", "Step", "weighted_losses"]
