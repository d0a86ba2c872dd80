"""Requests, responses and problems of the native and the administrative API (`jobs`), as pydantic models."""

from service.schemas.answers import (
    Answer,
    Differs,
    Original,
    Pictogram,
)
from service.schemas.files import TranslatedFile
from service.schemas.languages import Language, Quality
from service.schemas.problems import ERRORS_SHOWN, FieldError, Problem
from service.schemas.requests import Choices, Include, Kind, SentenceRequest, Texts, WordRequest
from service.schemas.responses import (
    Concordance,
    ConcordanceLine,
    Liveness,
    PartResult,
    Readiness,
    Response,
    SentenceResponse,
    SentenceResult,
    TeachingPicture,
    TeachingPictures,
    Translation,
    WordResponse,
    WordResult,
)

__all__ = [
    "ERRORS_SHOWN",
    "Answer",
    "Choices",
    "Concordance",
    "ConcordanceLine",
    "Differs",
    "FieldError",
    "Include",
    "Kind",
    "Language",
    "Liveness",
    "Original",
    "PartResult",
    "Pictogram",
    "Problem",
    "Quality",
    "Readiness",
    "Response",
    "SentenceRequest",
    "SentenceResponse",
    "SentenceResult",
    "TeachingPicture",
    "TeachingPictures",
    "Texts",
    "TranslatedFile",
    "Translation",
    "WordRequest",
    "WordResponse",
    "WordResult",
]
