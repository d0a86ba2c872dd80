"""The service as an ASGI application: wiring only."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from index.search.translator import Translator
from service.api.admin import router as admin
from service.api.amagama import router as amagama
from service.api.corpus import router as corpus
from service.api.jobs import router as jobs
from service.api.libretranslate import router as libretranslate
from service.api.metrics import router as metrics
from service.api.native import router as native
from service.engine.batching import Batcher
from service.engine.cache import open_cache
from service.engine.engine import Engine
from service.engine.index_manager import Generations, reloading_on_hangup
from service.http.errand import Errands
from service.http.exception_handlers import add_handlers
from service.http.interpreter import prepare_to_serve
from service.http.keys import KeyCheck
from service.http.limits import BodyLimit
from service.http.openapi import describe
from service.http.openapi import router as openapi
from service.http.page import page_router
from service.http.protocol import ERRANDS, METRICS, STATE, STOPPING, STREAMED
from service.http.request_context import Envelope
from service.jobs.opening import open_jobs
from service.observability.metrics import Metrics
from service.observability.tracing import OFF, Tracing
from service.settings import Settings, load_settings

DESCRIPTION = (
    "Translation by retrieval: answers are sentences and words that the index holds, found by an encoder "
    "learned from captioned pictures. Every error is an RFC 9457 problem document (application/problem+json)."
)


def create_app(settings: Settings, translator: Translator | None = None, *, follow: bool = False) -> FastAPI:
    """The application. `translator`, if given, is served; else settings.index is opened at start-up.

    With `follow`, another version that settings.index comes to name takes its place.
    """
    tracing = Tracing.to(settings.traces_url) if settings.traces_url else None
    app = FastAPI(
        title="Passepartout",
        version=version("passepartout"),
        description=DESCRIPTION,
        lifespan=_lifespan(settings, translator, follow, tracing),
        openapi_url=None,
        redirect_slashes=False,
        telemetry=tracing.telemetry if tracing else OFF,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.settings = settings
    app.state.generations = app.state.rates = None
    app.state.jobs = open_jobs(settings)
    app.state.metrics = Metrics(tracing)
    app.state.keys = settings.keys
    _wrap(app, settings)
    app.include_router(native)
    app.include_router(libretranslate)
    app.include_router(amagama)
    app.include_router(metrics)
    app.include_router(admin)
    app.include_router(corpus)
    app.include_router(jobs)
    app.include_router(openapi)
    app.include_router(page_router())
    add_handlers(app)
    app.openapi = describe(app, settings)  # type: ignore[method-assign]  # FastAPI's documented way
    return app


def from_environment() -> FastAPI:
    """The application of a worker process, which gets its settings from the environment."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until there is an index that could be reloaded
    app = create_app(load_settings(), follow=True)
    prepare_to_serve()
    return app


def _wrap(app: FastAPI, settings: Settings) -> None:
    """The middlewares, the innermost first."""
    streamed = {STREAMED: settings.max_upload_bytes}
    app.add_middleware(BodyLimit, most=settings.max_body_bytes, streamed=streamed)
    if settings.rate_limit:
        from service.http.rates import RateLimit, Rates  # their library costs memory: only where it is used

        app.state.rates = Rates(settings)
        app.add_middleware(RateLimit, rates=app.state.rates)
    app.add_middleware(KeyCheck, keys=settings.keys, admins=settings.admins)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", "X-API-Key", "X-Request-ID"],
            expose_headers=["Retry-After", "X-Request-ID"],
        )
    app.add_middleware(Envelope, metrics=app.state.metrics, log_requests=settings.log_requests)


def _lifespan(
    settings: Settings, translator: Translator | None, follow: bool, tracing: Tracing | None
) -> Callable[[FastAPI], AbstractAsyncContextManager[Mapping[str, object]]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[Mapping[str, object]]:
        metrics = app.state.metrics
        cache, batcher = open_cache(settings), Batcher(settings.threads, settings.bounds, metrics)

        def make(opened: Translator) -> Engine:
            return Engine(opened, cache, batcher, metrics, settings.compute_seconds)

        generations = Generations(settings.index, settings.threads, make)
        await generations.start(translator)
        app.state.generations = generations
        async with generations.watching(settings.watch_seconds if follow else 0):
            with reloading_on_hangup(generations):
                # Where there are traces, FastAPI makes the spans.
                errands = Errands(app, native.routes if tracing is None else (), settings)
                yield {STATE: settings, METRICS: metrics, STOPPING: asyncio.Event(), ERRANDS: errands}
        app.state.generations = None
        generations.close()
        batcher.close()
        await cache.close()
        if app.state.jobs is not None:
            await asyncio.to_thread(app.state.jobs.close)
        if app.state.rates is not None:
            await app.state.rates.close()
        metrics.close()
        if tracing is not None:
            await asyncio.to_thread(tracing.close)

    return lifespan
