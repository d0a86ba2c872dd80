"""What a route is given: the engine, the settings."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from service.engine import Engine
from service.envelope import VERSION
from service.generations import Generations
from service.problems import ProblemError, ProblemType
from service.settings import Settings


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


EngineNow = Annotated[Engine, Depends(get_engine)]
SettingsNow = Annotated[Settings, Depends(get_settings)]
