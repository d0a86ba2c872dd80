"""`GET /metrics`, for Prometheus."""

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from service.api.dependencies import SettingsNow
from service.api.openapi import problem_responses
from service.http.problems import ProblemError, ProblemType
from service.observability.metrics import Metrics, is_loopback

router = APIRouter()


@router.get(
    "/metrics",
    summary="Read metrics, for Prometheus",
    response_class=PlainTextResponse,
    responses=problem_responses(
        ProblemType.UNAUTHORISED, ProblemType.NOT_FOUND, ProblemType.METHOD_NOT_ALLOWED, ProblemType.INTERNAL
    ),
)
async def metrics(request: Request, settings: SettingsNow) -> Response:
    """Given to this machine alone, or to everyone, or to none, as the setting `metrics` says."""
    host = request.client.host if request.client else ""
    if settings.metrics == "off" or (settings.metrics == "loopback" and not is_loopback(host)):
        raise ProblemError(
            ProblemType.NOT_FOUND, "there are no metrics for you here: see the setting metrics"
        )
    counts: Metrics = request.app.state.metrics
    return Response(counts.text(), media_type=CONTENT_TYPE_LATEST)
