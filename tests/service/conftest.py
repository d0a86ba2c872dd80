"""What the service's tests need from outside Python: a real Redis server, a real browser."""

import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from playwright.sync_api import Browser
from starlette.testclient import TestClient

from index.answers.translator import Translator
from index.encoder.bundle import Bundle
from service.app import create_app
from service.engine import redis_cache
from service.settings import Settings
from tests.files import index_of_table
from tests.service.browser import OpenPage, launched, watched_pages
from tests.service.server import free_port, serving
from tests.waiting import Server, until


def tool(name: str) -> str:
    """The path of a program that the tests need; the test fails, never skips, without it."""
    found = shutil.which(name)
    if found is None:
        pytest.fail(f"{name} is not installed: run scripts/install-test-tools")
    return found


@pytest.fixture
def anyio_backend() -> str:
    """What coroutines run in that are tests."""
    return "asyncio"


ClientFactory = Callable[..., TestClient]


@pytest.fixture
def make_client(translator: Translator) -> Iterator[ClientFactory]:
    """Makes clients of the application with the settings given."""
    with ExitStack() as stack:

        def make(**settings: Any) -> TestClient:  # noqa: ANN401
            return stack.enter_context(TestClient(create_app(Settings(**settings), translator)))

        yield make


@pytest.fixture(scope="session")
def client(translator: Translator) -> Iterator[TestClient]:
    """A client of the application with the default settings."""
    with TestClient(create_app(Settings(), translator)) as client:
        yield client


@pytest.fixture(scope="session")
def address(index_dir: Path) -> Iterator[str]:
    """The address of a real server with the default settings."""
    with serving(index_dir) as (address, _):
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched(tool("chromium-headless-shell")) as browser:
        yield browser


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Opens a page, which may leave no error of its script and no request to elsewhere behind."""
    with watched_pages(browser) as opener:
        yield opener


@pytest.fixture(scope="session")
def remembering_dir(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of a small aligned corpus, whose translations no vector would guess."""
    rows = [
        ("en", "de"),
        ("The dog sleeps.", "Der Vertrag gilt."),
        ("The cat runs.", "Bitte warten!"),
        ("A bird.", "Nein."),
        ("- A cow.", "- Muh."),
        ("Delete {0} now!", "Nie {0}."),
        ('See <a href="/a">it</a> now.', 'Da: <a href="/a">es</a> & so.'),
    ]
    return index_of_table(bundle, tmp_path_factory.mktemp("memory") / "memory.tsv", rows)


@pytest.fixture(scope="session")
def remembering_address(remembering_dir: Path) -> Iterator[str]:
    """The address of a real server of that corpus."""
    with serving(remembering_dir) as (address, _):
        yield address


@pytest.fixture(scope="session")
def remembering(remembering_dir: Path) -> Iterator[TestClient]:
    """A client over that corpus."""
    with TestClient(create_app(Settings(index=remembering_dir))) as client:
        yield client


def every_route() -> list[APIRoute]:
    """The routes of the application, those of its routers included, but for /openapi.json."""
    routes = [
        route
        for part in create_app(Settings()).routes
        for route in getattr(getattr(part, "original_router", None), "routes", [part])
    ]
    return [route for route in routes if isinstance(route, APIRoute)]


class RedisServer(Server):
    """A Redis server of one's own, which can be frozen and killed."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._program = tool("redis-server")
        self._folder = folder
        self.start()

    def start(self) -> None:
        arguments = f"--port {self.port} --bind 127.0.0.1 --dir {self._folder} --save".split()
        self._process = subprocess.Popen([self._program, *arguments, ""], stdout=subprocess.DEVNULL)
        until(self._answers, "redis-server did not start", 10)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(64).startswith(b"+PONG")
        except OSError:
            return False


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give Redis the time that it may take on a busy machine, where it must answer."""
    monkeypatch.setattr(redis_cache, "REDIS_SECONDS", 5.0)


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path)
    yield server
    server.kill()
