"""What a route is given: the engine, the settings."""

from typing import TYPE_CHECKING, Annotated

from fastapi import Depends
from starlette.requests import Request

from service.engine.engine import Engine
from service.engine.index_manager import Generations
from service.http.problems import ProblemError, ProblemType
from service.http.request_context import VERSION
from service.settings import Settings

if TYPE_CHECKING:
    from service.jobs.queue import JobQueue


# Dependencies are coroutines since FastAPI would run plain functions in a thread, each.
async def get_engine(request: Request) -> Engine:
    """The engine of the version served now, which a request keeps to its end."""
    generations: Generations | None = request.app.state.generations
    if generations is None:
        raise ProblemError(ProblemType.NOT_READY, ProblemType.NOT_READY.meaning)
    engine = generations.engine
    request.scope["state"][VERSION] = engine.translator.version
    return engine


async def get_settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


async def get_jobs(request: Request) -> "JobQueue":
    """The queue of jobs; ProblemError where there is none."""
    queue: JobQueue | None = request.app.state.jobs
    if queue is None:
        raise ProblemError(ProblemType.NO_JOBS, ProblemType.NO_JOBS.meaning)
    return queue


EngineNow = Annotated[Engine, Depends(get_engine)]
SettingsNow = Annotated[Settings, Depends(get_settings)]
JobsNow = Annotated["JobQueue", Depends(get_jobs)]
