"""For those who run the service: health, metrics, what the types of problems mean."""

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from service.api.dependencies import EngineNow, IndexManagerNow, SettingsNow
from service.api.native import READING_PROBLEMS
from service.api.openapi import problem_responses
from service.http.problems import ProblemError, ProblemType
from service.observability.metrics import Metrics, is_loopback
from service.schemas import Liveness, Problem, Readiness

router = APIRouter()


@router.get(
    "/health/live",
    summary="Check liveness",
    responses=problem_responses(ProblemType.METHOD_NOT_ALLOWED),
)
async def live() -> Liveness:
    """Succeeds as long as the process serves requests at all."""
    return Liveness()


@router.get("/health/ready", summary="Check readiness", responses=READING_PROBLEMS)
async def ready(request: Request, engine: EngineNow, manager: IndexManagerNow) -> Readiness:
    """Succeeds from when the index is open and warmed up until the service is told to stop.

    Fails while a file of the index is known to be damaged (the setting `verify_seconds`).
    """
    if request.app.state.stopping.is_set() or manager.damaged:
        raise ProblemError(ProblemType.NOT_READY)
    return Readiness(model=engine.translator.model, index=engine.translator.version)


@router.get("/problems/{name}", include_in_schema=False)
async def problem(name: str) -> Problem:
    """What the `type` of a problem document leads to."""
    kind = next((kind for kind in ProblemType if kind.slug == name), None)
    if kind is None:
        raise ProblemError(ProblemType.NOT_FOUND, "there is no such problem type: /openapi.json lists them")
    return Problem(type=kind.type, title=kind.title, status=kind.status, detail=kind.meaning)


@router.get(
    "/metrics",
    summary="Read metrics for Prometheus",
    response_class=PlainTextResponse,
    responses=problem_responses(
        ProblemType.UNAUTHORISED, ProblemType.NOT_FOUND, ProblemType.METHOD_NOT_ALLOWED, ProblemType.INTERNAL
    ),
)
async def metrics(request: Request, settings: SettingsNow) -> Response:
    """Answers this machine alone, everyone or no one, as the setting `metrics` says."""
    host = request.client.host if request.client else ""
    if settings.metrics == "off" or (settings.metrics == "loopback" and not is_loopback(host)):
        raise ProblemError(
            ProblemType.NOT_FOUND, "there are no metrics for you here: see the setting metrics"
        )
    counts: Metrics = request.app.state.metrics
    return Response(counts.text(), media_type=CONTENT_TYPE_LATEST)
