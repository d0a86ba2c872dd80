"""`passepartout serve`."""

import os
import signal
import socket
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from index.errors import UsageError
from service import limits
from service.observability.logs import logging_config
from service.settings import ENVIRONMENT_PREFIX, Settings, load_settings

if TYPE_CHECKING:
    from index.answers.translator import Translator

SHARED_MEMORY = "/dev/shm"  # a file system in memory, which hardly anybody fills
START_SECONDS = 120  # that a worker has to open an index and to answer its supervisor


@click.command()
@click.option("--index", type=click.Path(path_type=Path), help="Folder of the index.  [default: var/index]")
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=int, help="Port to listen on.  [default: 8000]")
@click.option("--workers", type=int, help="Server processes.  [default: 1]")
def serve(index: Path | None, host: str | None, port: int | None, workers: int | None) -> None:
    """Serve an index over HTTP, with a page at /.

    Every further setting is an environment variable: docs/reference/settings.md.
    """
    settings = load_settings(index=index, host=host, port=port, workers=workers)
    _check_address(settings)
    _prepare(settings)
    if settings.workers > 1:
        _open(settings)  # fails early, in one line, and verifies the files once for all workers
        _serve_many(settings)
    else:
        _serve_one(settings)


def _check_address(settings: Settings) -> None:
    """Raise UsageError if nothing can listen at the address, before the index is opened, which is slow."""
    try:
        family, *_, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        socket.create_server(address, family=family).close()
    except OSError as error:
        reason = error.strerror or "unknown"
        raise UsageError(
            f"cannot listen on {settings.host} port {settings.port} ({reason}): give another --port or --host"
        ) from None


def _prepare(settings: Settings) -> None:
    """Install signal handlers, and tell OpenMP, before FAISS is imported, how many threads it has."""
    os.environ.setdefault("OMP_NUM_THREADS", str(settings.threads))
    # A signal during start-up, or after uvicorn's orderly shutdown, exits with 0.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the index is watched: there is nothing to read again


def _open(settings: Settings) -> "Translator":
    from index.answers.translator import Translator

    return Translator.open(settings.index, threads=settings.threads)


def _serve_one(settings: Settings) -> None:
    translator = _open(settings)
    import uvicorn

    from service.app import create_app

    app = create_app(settings, translator, deployed=True)
    del translator  # only the index manager keeps it, so that it is freed when another version is served
    uvicorn.run(app, **_options(settings))


def _serve_many(settings: Settings) -> None:
    import uvicorn

    # Workers read their settings from the environment; of the options they need only this one.
    os.environ[f"{ENVIRONMENT_PREFIX}INDEX"] = str(settings.index)
    shared = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None  # others fill /tmp
    with TemporaryDirectory(prefix="passepartout-metrics-", dir=shared) as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # where the workers share their counts
        uvicorn.run(
            "service.app:from_environment",
            factory=True,
            workers=settings.workers,
            timeout_worker_healthcheck=START_SECONDS,
            **_options(settings),
        )


def _options(settings: Settings) -> dict[str, Any]:
    return {
        "host": settings.host,
        "port": settings.port,
        "log_level": settings.log_level,
        "log_config": logging_config(settings.log_format, settings.log_level),
        "access_log": False,
        "ws": "none",
        "server_header": False,
        "forwarded_allow_ips": settings.trusted_proxies,
        "lifespan": "on",
        "timeout_keep_alive": limits.KEEP_ALIVE_SECONDS,
        "timeout_graceful_shutdown": limits.SHUTDOWN_SECONDS,
    }
