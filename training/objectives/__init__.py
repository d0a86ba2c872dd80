"""One loss a file, named as in its paper; a recipe names them in its `[objectives.NAME]` tables."""

from training.objectives.back_translation import BackTranslation
from training.objectives.base import Contrastive, Need, Objective, Outputs
from training.objectives.cloze import Cloze
from training.objectives.cross_modal import CrossModal
from training.objectives.denoising import Denoising
from training.objectives.orthogonality import Orthogonality
from training.objectives.paired import Paired
from training.objectives.pseudopairs import Pseudopairs
from training.objectives.transitive import Transitive
from training.objectives.visual_contrastive import VisualContrastive
from training.objectives.visual_regression import VisualRegression

# The name in a recipe -> the objective. A new paper's loss is a new file and a line here.
OBJECTIVES: dict[str, type[Objective]] = {
    "back_translation": BackTranslation,
    "cloze": Cloze,
    "cross_modal": CrossModal,
    "denoising": Denoising,
    "orthogonality": Orthogonality,
    "paired": Paired,
    "pseudopairs": Pseudopairs,
    "transitive": Transitive,
    "visual_contrastive": VisualContrastive,
    "visual_regression": VisualRegression,
}

__all__ = [
    "OBJECTIVES",
    "BackTranslation",
    "Cloze",
    "Contrastive",
    "CrossModal",
    "Denoising",
    "Need",
    "Objective",
    "Orthogonality",
    "Outputs",
    "Paired",
    "Pseudopairs",
    "Transitive",
    "VisualContrastive",
    "VisualRegression",
]
