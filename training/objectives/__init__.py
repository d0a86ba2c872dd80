"""One loss a file, named as in its paper; a recipe names them in its `[objectives.NAME]` tables."""

from training.objectives.base import Contrastive, Need, Objective, Outputs
from training.objectives.cloze import Cloze
from training.objectives.cross_modal import CrossModal
from training.objectives.transitive import Transitive
from training.objectives.visual_contrastive import VisualContrastive
from training.objectives.visual_regression import VisualRegression

# The name in a recipe -> the objective. A new paper's loss is a new file and a line here.
OBJECTIVES: dict[str, type[Objective]] = {
    "cloze": Cloze,
    "cross_modal": CrossModal,
    "transitive": Transitive,
    "visual_contrastive": VisualContrastive,
    "visual_regression": VisualRegression,
}

__all__ = [
    "OBJECTIVES",
    "Cloze",
    "Contrastive",
    "CrossModal",
    "Need",
    "Objective",
    "Outputs",
    "Transitive",
    "VisualContrastive",
    "VisualRegression",
]
