"""Changing what is served: for admin keys alone (the setting `admin_keys`)."""

from fastapi import APIRouter
from pydantic import Field

from service.api.dependencies import IndexManagerNow
from service.api.openapi import NEEDS_A_KEY, problem_responses
from service.http.problems import ProblemError, ProblemType
from service.schemas import Response

router = APIRouter(prefix="/admin", tags=["Administration"])


class Reloaded(Response):
    """The version served now."""

    changed: bool = Field(description="Whether it is another version than before.")


@router.post(
    "/reload",
    summary="Serve the current version of the index",
    openapi_extra=NEEDS_A_KEY,
    responses=problem_responses(
        ProblemType.UNAUTHORISED,
        ProblemType.METHOD_NOT_ALLOWED,
        ProblemType.VERSION_REFUSED,
        ProblemType.INTERNAL,
        ProblemType.OVERLOADED,
        ProblemType.NOT_READY,
    ),
)
async def reload(manager: IndexManagerNow) -> Reloaded:
    """Open the version that the file CURRENT of the index names, as the service soon does by itself.

    Requests in progress finish with the version that they began with. Other worker processes follow within
    `watch_seconds`, a setting.
    """
    try:
        changed = await manager.reload()
    except Exception:  # of which the log tells all
        raise ProblemError(ProblemType.VERSION_REFUSED) from None
    translator = manager.engine.translator
    return Reloaded(model=translator.model, index=translator.version, changed=changed)
