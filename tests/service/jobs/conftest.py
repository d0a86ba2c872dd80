"""A service with a queue on a real Redis, workers as processes of their own, and an index to change."""

import contextlib
import functools
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from index.build.build_index import build_index
from index.encoder.bundle import Bundle
from index.storage.versions import current, versions
from tests.bundles import make_corpus
from tests.files import texts
from tests.service.conftest import RedisServer
from tests.service.server import serving

KEY = "an admin's key"
ADMINS = f"boss:{hashlib.sha256(KEY.encode()).hexdigest()}"
PATIENCE = 3  # seconds after which a worker is taken for dead: the least there is
WORK = [
    sys.executable,
    "-c",
    "import runpy; from service import limits; "
    f"limits.WORKER_SILENCE_SECONDS = {PATIENCE}; limits.MAX_CORPUS_BYTES = {4 << 20}; "
    "runpy.run_module('passepartout', run_name='__main__')",
    "jobs",
]


@dataclass
class Stage:
    """A service at `url`, and where its index and uploads are."""

    url: str
    index: Path
    spool: Path
    process: "subprocess.Popen[str]"
    environment: dict[str, str]

    def client(self, key: str | None = KEY) -> httpx2.Client:
        headers = {} if key is None else {"X-API-Key": key}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=30)

    @functools.cached_property
    def admin(self) -> httpx2.Client:
        """One client for all: to make one costs as much as to ask ten times."""
        return self.client()

    def ask(self, method: str, path: str, **more: Any) -> httpx2.Response:  # noqa: ANN401
        return self.admin.request(method, path, **more)

    def submit(self, if_match: str | None = None, **request: Any) -> dict[str, Any]:  # noqa: ANN401
        headers = {"If-Match": f'"{if_match}"'} if if_match else {}
        answer = self.ask("POST", "/admin/jobs", json=request, headers=headers)
        assert answer.status_code == 202, answer.text
        job: dict[str, Any] = answer.json()
        return job

    def upload(self, content: bytes, **query: str) -> httpx2.Response:
        headers = {"Content-Type": "application/octet-stream"}
        return self.ask("POST", "/admin/uploads", params=query, content=content, headers=headers)

    def told(self, job: str) -> Iterator[dict[str, Any]]:
        """A job whenever something of it has changed, until it has ended."""
        seen = None
        while seen is None or seen["state"] in ("queued", "running"):
            now = self.ask("GET", f"/admin/jobs/{job}").json()
            if now != seen:
                seen = now
                yield now
            time.sleep(0.05)

    def end(self, job: str) -> dict[str, Any]:
        """The job once it has ended."""
        *_, last = self.told(job)
        return last

    def texts(self, language: str) -> dict[str, str]:
        """Id -> text in the version that the index names."""
        return {own: text for own, text in texts(self.index).items() if own.startswith(f"{language}:")}

    @contextlib.contextmanager
    def working(self, **more: str) -> Iterator["subprocess.Popen[str]"]:
        """A worker process."""
        process = subprocess.Popen(
            [*WORK, "--index", str(self.index)],
            env=os.environ | self.environment | more,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            yield process
        finally:
            for child in children(process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            process.kill()
            process.wait()
            assert process.stderr is not None
            process.stderr.close()


def children(pid: int) -> list[int]:
    """All processes below one."""
    try:
        direct = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [below for child in direct for below in (*children(int(child)), int(child))]


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture(scope="module")
def small_index(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 sentences of en and de, aligned by nothing. Not to be changed."""
    folder = tmp_path_factory.mktemp("small")
    build_index(bundle, make_corpus(folder / "corpus", ("en", "de"), 40), folder / "index")
    return folder / "index"


@pytest.fixture(scope="module")
def stage(small_index: Path, redis: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A service, without a worker."""
    folder = tmp_path_factory.mktemp("stage")
    index = shutil.copytree(small_index, folder / "index")
    environment = {
        "PASSEPARTOUT_ADMIN_KEYS": ADMINS,
        "PASSEPARTOUT_JOBS_URL": redis.url,
        "PASSEPARTOUT_MAX_UPLOAD_BYTES": str(2 << 20),
        "OMP_NUM_THREADS": "1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        with serving(index) as (url, process):
            stage = Stage(url, index, folder / "index.spool" / "uploads", process, environment)
            yield stage
            stage.admin.close()


@pytest.fixture
def untouched(stage: Stage) -> Iterator[None]:
    """A test that may change neither the version served nor the versions there are."""
    before = current(stage.index), versions(stage.index)
    yield
    assert (current(stage.index), versions(stage.index)) == before
