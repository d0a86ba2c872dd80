"""Dependencies of routes: the engine, the settings, the queue of jobs."""

from typing import TYPE_CHECKING, Annotated

from fastapi import Depends
from starlette.requests import Request

from service.engine.engine import ServiceEngine
from service.engine.index_manager import IndexManager
from service.http.problems import ProblemError, ProblemType
from service.http.request_context import INDEX_VERSION
from service.settings import Settings

if TYPE_CHECKING:
    from service.jobs.queue import JobQueue


# Dependencies are coroutines, since FastAPI would run each plain function in a thread.
async def get_index_manager(request: Request) -> IndexManager:
    """The index manager; ProblemError while there is no index."""
    manager: IndexManager | None = request.app.state.index_manager
    if manager is None:
        raise ProblemError(ProblemType.NOT_READY)
    return manager


async def get_engine(request: Request) -> ServiceEngine:
    """The engine of the version served now, which the request keeps to its end."""
    engine = (await get_index_manager(request)).engine
    request.scope["state"][INDEX_VERSION] = engine.translator.version
    return engine


async def get_settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


async def get_jobs(request: Request) -> "JobQueue":
    """The queue of jobs; ProblemError if there is none."""
    queue: JobQueue | None = request.app.state.jobs
    if queue is None:
        raise ProblemError(ProblemType.NO_JOBS)
    return queue


IndexManagerNow = Annotated[IndexManager, Depends(get_index_manager)]
EngineNow = Annotated[ServiceEngine, Depends(get_engine)]
SettingsNow = Annotated[Settings, Depends(get_settings)]
JobsNow = Annotated["JobQueue", Depends(get_jobs)]
