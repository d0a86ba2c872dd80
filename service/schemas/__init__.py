"""What HTTP takes and gives besides translations (index/answers/), as pydantic models."""

from service.schemas.files import TranslatedFile
from service.schemas.languages import Language, Quality
from service.schemas.problems import ERRORS_SHOWN, FieldError, Problem
from service.schemas.responses import (
    Concordance,
    ConcordanceLine,
    Liveness,
    Phrases,
    Readiness,
    ShownPhrase,
    TeachingPicture,
    TeachingPictures,
    Translation,
)

__all__ = [
    "ERRORS_SHOWN",
    "Concordance",
    "ConcordanceLine",
    "FieldError",
    "Language",
    "Liveness",
    "Phrases",
    "Problem",
    "Quality",
    "Readiness",
    "ShownPhrase",
    "TeachingPicture",
    "TeachingPictures",
    "TranslatedFile",
    "Translation",
]
