"""The service as an ASGI application: wiring, and how a process of it starts and ends."""

import asyncio
import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from importlib.metadata import version
from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.middleware.cors import CORSMiddleware

from index.answers.translator import Translator
from index.build.encoding import when_parent_ends
from index.errors import PassepartoutError
from index.malloc import return_freed_memory
from service import limits
from service.api.admin import router as admin
from service.api.corpus import router as corpus
from service.api.files import router as files
from service.api.libretranslate import router as libretranslate
from service.api.native import router as native
from service.api.operations import router as operations
from service.engine.batching import Batcher, Bounds
from service.engine.cache import Cache, MemoryCache
from service.engine.engine import ServiceEngine
from service.engine.index_manager import IndexManager
from service.http.access import Access
from service.http.bounds import BodyLimit, ConcurrencyLimit
from service.http.exception_handlers import add_handlers
from service.http.page import page_router
from service.http.problems import PROBLEMS
from service.http.request_context import RequestContext
from service.observability.metrics import Metrics
from service.settings import Settings, load_settings

if TYPE_CHECKING:
    from service.jobs.queue import JobQueue

log = logging.getLogger("passepartout.index")

# How long a thread keeps the GIL while others wait for it. An answer waits for it about ten times, so with
# Python's default of 5 ms it would take 50 ms longer while a file is filled.
SWITCH_SECONDS = 0.0005
REOPEN_SECONDS = 3  # between a worker process's attempts to open the index
# FastAPI would send paths, which have texts, wherever the environment configures OpenTelemetry.
TELEMETRY_OFF: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
API_DESCRIPTION = (
    "Translation by retrieval: answers are sentences and words that the index holds, found by an encoder "
    "learned from captioned pictures. Every error is an RFC 9457 problem document (application/problem+json)."
)


def create_app(
    settings: Settings, translator: Translator | None = None, *, deployed: bool = False
) -> FastAPI:
    """Create the application; it serves `translator` if given, otherwise it opens settings.index at start-up.

    A `deployed` application has the process to itself: it serves new versions of settings.index as they
    appear, drains on SIGTERM, and excludes what exists at start-up from garbage collection.
    """
    app = FastAPI(
        title="Passepartout",
        version=version("passepartout"),
        description=API_DESCRIPTION,
        lifespan=_lifespan(settings, translator, deployed),
        docs_url=None,  # FastAPI's pages load their scripts from elsewhere
        redoc_url=None,
        responses=PROBLEMS,
        redirect_slashes=False,
        telemetry=TELEMETRY_OFF,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.settings = settings
    app.state.index_manager = None
    app.state.jobs = _open_jobs(settings)
    app.state.metrics = Metrics()
    app.state.stopping = asyncio.Event()
    app.state.file_places = asyncio.Semaphore(limits.MAX_FILES)
    _add_middleware(app, settings)
    app.router.routes.extend(native.routes)  # faster than an included router
    for router in (operations, corpus, libretranslate, files, admin, page_router()):
        app.include_router(router)
    add_handlers(app)
    return app


def from_environment() -> FastAPI:
    """Create the application of one of several worker processes, with settings from the environment.

    If it cannot open the index, the process waits and ends; its supervisor then starts another.
    """
    when_parent_ends(lambda: os.kill(os.getpid(), signal.SIGTERM))  # otherwise it would keep the port
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the index is watched: there is nothing to read again
    settings = load_settings()
    try:
        translator = Translator.open(settings.index, threads=settings.threads)
    except PassepartoutError as error:
        log.error("this worker cannot open the index, another will try: %s", error)
        time.sleep(REOPEN_SECONDS)
        # Not reported as a failure to start, after which uvicorn would stop the other workers too; and at
        # once, since the supervisor waits up to START_SECONDS for a process that does not answer.
        os._exit(1)
    return create_app(settings, translator, deployed=True)


def _add_middleware(app: FastAPI, settings: Settings) -> None:
    """Add the middleware, the innermost first."""
    longer = dict.fromkeys(("/translate_file", "/board"), limits.MAX_FILE_BYTES)
    longer["/admin/uploads"] = settings.max_upload_bytes
    app.add_middleware(BodyLimit, length=limits.MAX_BODY_BYTES, longer=longer)
    app.add_middleware(Access, keys=settings.keys, admins=settings.admins, origins=settings.origins)
    app.add_middleware(ConcurrencyLimit, limit=settings.max_requests)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", "X-API-Key", "X-Request-ID"],
            expose_headers=["Retry-After", "X-Request-ID"],
        )
    app.add_middleware(
        RequestContext,
        metrics=app.state.metrics,
        log_requests=settings.log_requests,
        stopping=app.state.stopping,
    )


def _lifespan(
    settings: Settings, translator: Translator | None, deployed: bool
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        nonlocal translator
        metrics = app.state.metrics
        cache = open_cache(settings, metrics)
        batcher = Batcher(settings.threads, Bounds(), metrics)
        slow_batcher = Batcher(1, Bounds(1, quantum=1), metrics)
        manager = IndexManager(
            settings.index,
            settings.threads,
            lambda opened: ServiceEngine(opened, cache, batcher, metrics, slow_batcher),
        )
        await manager.start(translator)
        translator = None  # only the manager keeps it, so that it is freed when another version is served
        app.state.index_manager = manager
        async with _running(app, manager, settings) if deployed else nullcontext():
            yield
        app.state.index_manager = None
        manager.close()
        batcher.close()
        slow_batcher.close()
        await cache.close()
        if app.state.jobs is not None:
            await asyncio.to_thread(app.state.jobs.close)

    return lifespan


@asynccontextmanager
async def _running(app: FastAPI, manager: IndexManager, settings: Settings) -> AsyncIterator[None]:
    """Prepare a process that only serves; watch for new versions, drain on SIGTERM."""
    return_freed_memory()
    gc.freeze()  # objects that live as long as the process need no collection
    sys.setswitchinterval(SWITCH_SECONDS)
    async with manager.watching(limits.WATCH_SECONDS):
        with _draining_on_sigterm(app.state.stopping, settings.drain_seconds):
            yield


@contextmanager
def _draining_on_sigterm(stopping: asyncio.Event, seconds: float) -> Iterator[None]:
    """On SIGTERM, set `stopping`, so that clients are told to reconnect elsewhere, and pass the signal to the
    server `seconds` later; a second one at once.

    The server's handler is the one that is installed when the context is entered.
    """
    if threading.current_thread() is not threading.main_thread():  # only that one receives signals
        yield
        return
    loop = asyncio.get_running_loop()
    stop_server = signal.getsignal(signal.SIGTERM)

    def drain(*_: object) -> None:
        if stopping.is_set() or not seconds:
            stop()
        else:
            loop.call_soon_threadsafe(begin)

    def begin() -> None:
        stopping.set()
        loop.call_later(seconds, stop)

    def stop() -> None:
        stopping.set()
        if callable(stop_server):
            stop_server(signal.SIGTERM, None)

    signal.signal(signal.SIGTERM, drain)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, stop_server)


def _open_jobs(settings: Settings) -> "JobQueue | None":
    """Open the queue of jobs; None without a Redis for it, or if there are no admins to send jobs."""
    if settings.jobs_url is None or not settings.admins:
        return None
    from service.jobs.queue import JobQueue  # imported on use, to save RQ's memory

    return JobQueue(settings.jobs_url.get_secret_value())


def open_cache(settings: Settings, metrics: Metrics) -> Cache:
    """Open the cache that the settings ask for: Redis if they name one, else the process's memory."""
    if settings.redis_url is None:
        return MemoryCache(settings.cache_bytes, limits.CACHE_SECONDS)
    from service.engine.redis_cache import RedisCache  # redis costs memory: only where it is used

    secret = settings.cache_secret.get_secret_value().encode() if settings.cache_secret else b""
    if not secret:
        log.warning("whoever can write to Redis can choose answers: set PASSEPARTOUT_CACHE_SECRET")
    url = settings.redis_url.get_secret_value()
    return RedisCache(url, secret, limits.CACHE_SECONDS, metrics.rejected)
