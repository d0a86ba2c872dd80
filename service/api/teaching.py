"""Pictures to teach a language with. Teaching itself is a job (service/api/jobs.py)."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from service.api.dependencies import EngineNow
from service.api.native import TRANSLATION_PROBLEMS
from service.schemas import Response

router = APIRouter()

MOST_PICTURES = 300


class TeachingPicture(BaseModel):
    """A pictogram that the encoder carries."""

    picture: str = Field(examples=["pictograms/1f415"])
    emoji: str = Field(examples=["🐕"])


class TeachingPictures(Response):
    """Pictograms, those that say most about the others first."""

    results: list[TeachingPicture]


@router.get(
    "/teach/pictures", summary="List pictures to teach a language with", responses=TRANSLATION_PROBLEMS
)
async def pictures(
    engine: EngineNow,
    count: Annotated[int, Query(ge=1, le=MOST_PICTURES, description="How many, at most.")] = MOST_PICTURES,
) -> TeachingPictures:
    """What to caption first in a language that the encoder is to be taught (`teach` of POST /admin/jobs).

    None where the encoder carries no pictograms.
    """
    ordered = await engine.teaching_pictures()
    return TeachingPictures(
        model=engine.translator.model,
        index=engine.translator.version,
        results=[TeachingPicture(picture=picture, emoji=emoji) for picture, emoji in ordered[:count]],
    )
