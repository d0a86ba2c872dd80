"""One loss a file, named as in its paper; a recipe names them in its `[objectives.NAME]` tables."""

from training.objectives.back_translation import BackTranslation
from training.objectives.base import Contrastive, Need, Objective, Outputs
from training.objectives.caption_tuning import CaptionTuning
from training.objectives.cloze import Cloze
from training.objectives.cross_modal import CrossModal
from training.objectives.denoising import Denoising
from training.objectives.halves import Halves
from training.objectives.hinge import CaptionHinge, Hinge, MinedHinge, WholeHinge
from training.objectives.language_adversary import LanguageAdversary
from training.objectives.masked_cross_language import MaskedCrossLanguage, MaskedTriplet
from training.objectives.orthogonality import Orthogonality
from training.objectives.paired import Paired
from training.objectives.pseudopairs import Pseudopairs
from training.objectives.top_violations import InnerNeighbourhood, Neighbourhood, Triplet
from training.objectives.transitive import Transitive
from training.objectives.visual_contrastive import VisualContrastive
from training.objectives.visual_regression import VisualRegression

# The name in a recipe -> the objective. A new paper's loss is a new file and a line here.
OBJECTIVES: dict[str, type[Objective]] = {
    "back_translation": BackTranslation,
    "caption_tuning": CaptionTuning,
    "caption_hinge": CaptionHinge,
    "cloze": Cloze,
    "cross_modal": CrossModal,
    "denoising": Denoising,
    "halves": Halves,
    "hinge": Hinge,
    "inner_neighbourhood": InnerNeighbourhood,
    "language_adversary": LanguageAdversary,
    "masked_cross_language": MaskedCrossLanguage,
    "masked_triplet": MaskedTriplet,
    "mined_hinge": MinedHinge,
    "neighbourhood": Neighbourhood,
    "orthogonality": Orthogonality,
    "paired": Paired,
    "pseudopairs": Pseudopairs,
    "transitive": Transitive,
    "triplet": Triplet,
    "visual_contrastive": VisualContrastive,
    "visual_regression": VisualRegression,
    "whole_hinge": WholeHinge,
}

__all__ = [
    "OBJECTIVES",
    "BackTranslation",
    "CaptionTuning",
    "Cloze",
    "Contrastive",
    "CrossModal",
    "Denoising",
    "Halves",
    "MaskedCrossLanguage",
    "MaskedTriplet",
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
