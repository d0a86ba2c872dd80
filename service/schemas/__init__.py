"""Requests, responses and problems of the native and the administrative API (`jobs`), as pydantic models."""

from service.schemas.answers import (
    Agreement,
    Answer,
    Detour,
    Differs,
    Explanation,
    Original,
    Pictogram,
    Return,
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
    "Agreement",
    "Answer",
    "Choices",
    "Concordance",
    "ConcordanceLine",
    "Detour",
    "Differs",
    "Explanation",
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
    "Return",
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
