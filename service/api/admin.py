"""What changes what is served: for admin keys alone (the setting `admin_keys`; keys.py checks them)."""

import multiprocessing
import os
import signal

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request

from service.api.schemas import Response
from service.engine.index_manager import Generations
from service.http.openapi import NEEDS_A_KEY, problem_responses
from service.http.problems import ProblemError, ProblemType

router = APIRouter(prefix="/admin", tags=["Administration"])


class Reloaded(Response):
    """The version served now."""

    changed: bool = Field(description="Whether it is another than before.")


@router.post(
    "/reload",
    summary="Serve the index's current version",
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
async def reload(request: Request) -> Reloaded:
    """Open what the index's file CURRENT names, as the service does by itself after a while.

    Requests that are being answered end with the version that they began with.
    """
    generations: Generations | None = request.app.state.generations
    if generations is None:
        raise ProblemError(ProblemType.NOT_READY, ProblemType.NOT_READY.meaning)
    try:
        changed = await generations.reload()
    except Exception:  # of which the log tells all
        raise ProblemError(ProblemType.VERSION_REFUSED, ProblemType.VERSION_REFUSED.meaning) from None
    if changed:
        tell_the_other_workers()
    translator = generations.engine.translator
    return Reloaded(model=translator.model, index=translator.version, changed=changed)


def tell_the_other_workers() -> None:
    """Through the process that started them all (server.py)."""
    if multiprocessing.parent_process() is not None:
        os.kill(os.getppid(), signal.SIGHUP)
