"""The native API's requests, responses and problems, as pydantic models."""

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
from service.schemas.languages import Language, Quality
from service.schemas.problems import ERRORS_SHOWN, FieldError, Problem
from service.schemas.requests import Choices, Include, Kind, SentenceRequest, Texts, WordRequest
from service.schemas.responses import (
    Health,
    PartResult,
    Readiness,
    Response,
    SentenceResponse,
    SentenceResult,
    WordResponse,
    WordResult,
)

__all__ = [
    "ERRORS_SHOWN",
    "Agreement",
    "Answer",
    "Choices",
    "Detour",
    "Differs",
    "Explanation",
    "FieldError",
    "Health",
    "Include",
    "Kind",
    "Language",
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
    "Texts",
    "WordRequest",
    "WordResponse",
    "WordResult",
]
