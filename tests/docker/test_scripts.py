"""docker/index-job with the real command on a tiny bundle, and what can be tried of the other scripts."""

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from index.encoder.bundle import Bundle
from index.storage.versions import current, open_version, versions
from tests.bundles import make_corpus


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    make_corpus(tmp_path / "corpora/everyday", ("en", "de"), count=20)
    (tmp_path / "corpora/everyday/README.md").write_text("Not a corpus.\n", "utf-8")
    (tmp_path / "corpora/phrases").mkdir()
    (tmp_path / "corpora/phrases/phrases.tsv").write_text("topic\ten\tqaa\npain\tIt hurts.\tAu.\n", "utf-8")
    return tmp_path / "corpora"


def run(*command: object, seconds: int = 120, **environment: str) -> subprocess.CompletedProcess[str]:
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env, words = {**os.environ, "PATH": beside, **environment}, [str(word) for word in command]
    return subprocess.run(words, env=env, capture_output=True, text=True, check=False, timeout=seconds)


def job(root: Path, *given: Path) -> subprocess.CompletedProcess[str]:
    return run(root / "docker/index-job", *given)


def test_it_builds_once_for_the_same_sources_and_again_for_others(
    root: Path, bundle: Bundle, corpora: Path, tmp_path: Path
) -> None:
    index, german = tmp_path / "data/index", corpora / "everyday/de.txt"
    lines = german.read_bytes()
    german.write_bytes(b"\xff\n")
    failed = job(root, bundle.folder, corpora, index)
    assert failed.returncode == 2
    assert "de.txt" in failed.stderr
    german.write_bytes(lines)
    (corpora / "everyday/xx.txt").write_text("A language that the bundle does not know.\n" * 20, "utf-8")
    first = job(root, bundle.folder, corpora, index)
    assert first.returncode == 0, first.stderr
    assert "xx.txt is left out" in first.stderr
    assert list(open_version(index)[1].languages) == ["de", "en", "qaa"]
    built = current(index)
    again = job(root, bundle.folder, corpora, index)
    assert (again.returncode, "up to date" in again.stdout) == (0, True)
    assert versions(index) == [built]

    german.write_bytes(lines + b"Ein Boot liegt am Ufer.\n")
    changed = job(root, bundle.folder, corpora, index)
    assert changed.returncode == 0, changed.stderr
    assert versions(index) == [built, current(index)]
    shutil.rmtree(index)
    assert job(root, bundle.folder, corpora, index).returncode == 0
    assert current(index)


def test_without_a_bundle_it_fails_and_names_the_file(root: Path, corpora: Path, tmp_path: Path) -> None:
    failed = job(root, tmp_path / "nothing", corpora, tmp_path / "index")
    assert failed.returncode != 0
    assert "nothing/manifest.json" in failed.stderr


@pytest.mark.parametrize("name", ["smoke-test", "index-job"])
def test_scripts_may_be_run_and_parse(root: Path, name: str) -> None:
    script = root / "docker" / name
    assert os.access(script, os.X_OK)
    shell = script.read_text("utf-8").splitlines()[0].removeprefix("#!").split()
    parsed = run(*shell, "-n", script)
    assert parsed.returncode == 0, parsed.stderr


@pytest.mark.parametrize("package", ["httptools", "tokenizers"])
def test_what_is_left_can_be_loaded(root: Path, tmp_path: Path, package: str) -> None:
    found = importlib.util.find_spec(package)
    assert found is not None
    assert found.origin is not None
    shutil.copytree(Path(found.origin).parent, tmp_path / package)
    before = {path: path.stat().st_size for path in tmp_path.rglob("*.so")}
    subprocess.run([sys.executable, root / "docker/strip.py", tmp_path], check=True)
    assert before
    assert all(path.stat().st_size < size for path, size in before.items())
    loaded = subprocess.run(
        [sys.executable, "-c", f"import {package}; print({package}.__file__)"],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(loaded.stdout.strip()).is_relative_to(tmp_path)


class Ready(BaseHTTPRequestHandler):
    """Answers /health/ready with the status of its server, everything else with 404."""

    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/health/ready" else 404)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    with HTTPServer(("127.0.0.1", 0), type("Now", (Ready,), {})) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def checked(root: Path, port: int, **environment: str) -> subprocess.CompletedProcess[str]:
    script = root / "docker/healthcheck.py"
    return run(sys.executable, "-I", script, seconds=30, PASSEPARTOUT_PORT=str(port), **environment)


def test_a_service_that_is_ready_is_healthy(root: Path, server: HTTPServer) -> None:
    assert checked(root, server.server_port).returncode == 0


def test_a_service_that_is_not_ready_is_not(root: Path, server: HTTPServer) -> None:
    server.RequestHandlerClass.status = 503  # type: ignore[attr-defined]
    found = checked(root, server.server_port)
    assert found.returncode == 1
    assert "503" in found.stderr
    assert "Traceback" not in found.stderr


def test_no_service_at_all_is_unhealthy(root: Path) -> None:
    with socket.socket() as probe:  # bound and not listening: nobody else answers there meanwhile
        probe.bind(("127.0.0.1", 0))
        assert checked(root, probe.getsockname()[1]).returncode == 1


def test_a_proxy_is_not_asked(root: Path, server: HTTPServer) -> None:
    nowhere = "http://127.0.0.1:9"
    found = checked(
        root, server.server_port, http_proxy=nowhere, HTTP_PROXY=nowhere, no_proxy="", NO_PROXY=""
    )
    assert found.returncode == 0, found.stderr
