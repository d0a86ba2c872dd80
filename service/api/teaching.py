"""Pictures to teach a language with. Teaching itself is a job (service/api/jobs.py)."""

from typing import Annotated

from fastapi import APIRouter, Query

from service.api.dependencies import EngineNow
from service.schemas import TeachingPicture, TeachingPictures

router = APIRouter()

MOST_PICTURES = 300


@router.get("/teach/pictures", summary="List pictures to teach a language with")
async def pictures(
    engine: EngineNow,
    count: Annotated[
        int, Query(ge=1, le=MOST_PICTURES, description="Highest number of pictures.")
    ] = MOST_PICTURES,
) -> TeachingPictures:
    """List what to caption first to teach the encoder a language (`teach` of POST /admin/jobs).

    The list is empty if the encoder carries no pictograms.
    """
    ordered = await engine.teaching_pictures()
    return TeachingPictures(
        model=engine.translator.model,
        index=engine.translator.version,
        results=[TeachingPicture(picture=picture, emoji=emoji) for picture, emoji in ordered[:count]],
    )
