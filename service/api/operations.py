"""For those who run the service: health, metrics, what the types of problems mean."""

from typing import Annotated

from fastapi import APIRouter, Path
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from service.api.dependencies import EngineNow, SettingsNow
from service.http.problems import ProblemError, ProblemType
from service.observability.metrics import Metrics, is_loopback
from service.schemas.problems import Problem
from service.schemas.responses import Liveness, Readiness

router = APIRouter()


@router.get("/health/live", summary="Check liveness")
async def live() -> Liveness:
    """Succeeds as long as the process serves requests at all."""
    return Liveness()


@router.get("/health/ready", summary="Check readiness")
async def ready(request: Request, engine: EngineNow) -> Readiness:
    """Succeeds from when the index is open and warmed up until the service is told to stop."""
    if request.app.state.stopping.is_set():
        raise ProblemError(ProblemType.NOT_READY)
    translator = engine.translator
    return Readiness(
        model=translator.model,
        index=translator.version,
        licence=translator.encoder.bundle.manifest.licence,
    )


@router.get("/problems/{name}", summary="Read what a type of problem means")
async def problem(name: Annotated[str, Path(description="The end of a problem's `type`.")]) -> Problem:
    """What the `type` of a problem document leads to."""
    kind = next((kind for kind in ProblemType if kind.slug == name), None)
    if kind is None:
        raise ProblemError(ProblemType.NOT_FOUND, "there is no such problem type: /openapi.json lists them")
    return Problem(type=kind.type, title=kind.title, status=kind.status, detail=kind.meaning)


@router.get(
    "/metrics",
    summary="Read metrics for Prometheus",
    response_class=PlainTextResponse,
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
