"""A server under load: versions change, clients leave, it is told to stop, and no answer is lost or mixed."""

import contextlib
import http.client
import json
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from index.storage.index_manifest import IndexManifest
from index.storage.manifest import read_manifest
from index.storage.tables import SENTENCE_COLUMNS, read_table, write_table
from index.storage.versions import VERSIONS, current, next_version, publish, serve
from tests.damage import flip_middle
from tests.service.server import serving
from tests.waiting import until

BODY = json.dumps(
    {"text": "A small dog runs on the beach.", "source": "en", "target": "de", "min_confidence": 0}
).encode()
MARK = " (second)"
CLIENTS = 4
SWAPS = 4
HUNG = 120  # seconds
Server = tuple[int, "subprocess.Popen[str]", str]


@pytest.fixture(scope="module")
def two_versions(index_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with two versions; every German sentence of the second ends in MARK."""
    index = shutil.copytree(index_dir, tmp_path_factory.mktemp("live") / "index")
    first = current(index)
    work = shutil.copytree(index / VERSIONS / first, index / "work" / "second")
    manifest = read_manifest(work, IndexManifest, "a version")
    (work / "manifest.json").unlink()  # publishing writes it
    path = work / "de.arrow"
    table = read_table(path, SENTENCE_COLUMNS, manifest.languages["de"].sentences)
    ids, texts, metadata = (table.column(name).to_pylist() for name in SENTENCE_COLUMNS)
    columns = (ids, [text + MARK for text in texts], metadata)
    write_table(path, dict(zip(SENTENCE_COLUMNS, columns, strict=True)))
    # Of the same day, also when midnight has passed since the first.
    second = next_version(index, datetime.strptime(first.partition("-")[0], "%Y%m%d").replace(tzinfo=UTC))
    publish(index, work, manifest.model_copy(update={"version": second}))
    serve(index, first)
    return index


@pytest.fixture(params=["2"], ids=["two workers"])
def server(
    two_versions: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Server]:
    """A server's port, process and number of workers."""
    monkeypatch.setenv("PASSEPARTOUT_CACHE_BYTES", "0")
    first = current(two_versions)
    with serving(two_versions, "--workers", request.param) as (address, process):
        yield int(address.rpartition(":")[2]), process, request.param
        serve(two_versions, first)  # whatever a test left


@dataclass
class Load:
    """What clients in threads saw: the versions that answered, and what went wrong.

    A client goes elsewhere once an answer tells it that the server is about to end.
    """

    port: int
    versions: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    told_to_leave: int = 0
    stopping: threading.Event = field(default_factory=threading.Event)

    @contextlib.contextmanager
    def running(self, clients: int = CLIENTS) -> Iterator[None]:
        threads = [threading.Thread(target=self._ask_on, args=(n % 2 == 0,)) for n in range(clients)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.stopping.set()
            for thread in threads:
                thread.join()

    def _ask_on(self, keep: bool) -> None:
        """Half of the clients keep their connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        while not self.stopping.is_set():
            told_to_leave = self._ask(connection)
            if told_to_leave:
                self.told_to_leave += 1
                break
            if not keep:
                connection.close()
        connection.close()

    def _ask(self, connection: http.client.HTTPConnection) -> bool:
        """Whether the connection ends with this answer."""
        try:
            connection.request("POST", "/translate/sentence", BODY, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            document = json.loads(answer.read())
        except (OSError, http.client.HTTPException) as error:
            self.faults.append(repr(error))
            return True
        if answer.status != 200:
            self.faults.append(f"{answer.status} {document}")
            return True
        text = document["results"][0]["translations"]["de"][0]["text"]
        version = document["index"]
        if answer.headers["x-index-version"] != version or text.endswith(MARK) != version.endswith("-2"):
            self.faults.append(f"mixed: {answer.headers['x-index-version']} {version} {text}")
        self.versions.append(version)
        return answer.headers.get("connection") == "close"


class Log:
    """What a process writes to its standard error, read while it runs."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert process.stderr is not None
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._lines.extend, args=(process.stderr,), daemon=True)
        self._reader.start()

    def count(self, text: str) -> int:
        """The number of lines with this text."""
        return sum(text in line for line in list(self._lines))

    def close(self) -> None:
        """Read to the end, once the process has ended."""
        self._reader.join(timeout=20)


def wait_for(load: Load, version: str) -> None:
    """Until only this version answers."""
    until(lambda: load.versions[-20:] == [version] * 20, f"{version} is not served: {load.faults[:3]}", HUNG)


def mapped(process: "subprocess.Popen[str]", index: Path) -> set[str]:
    """The versions that a process, or its workers, have files of in memory."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    lines = [
        line
        for each in [str(process.pid), *children]
        for line in Path(f"/proc/{each}/maps").read_text().splitlines()
    ]
    folder = f"{index.resolve() / VERSIONS}/"
    return {line.partition(folder)[2].partition("/")[0] for line in lines if folder in line}


def wait_until_mapped(process: "subprocess.Popen[str]", index: Path, versions: set[str]) -> None:
    """Until these alone are in memory: a request that began with another may still be under way."""
    until(lambda: mapped(process, index) == versions, f"not only {versions} are in memory", HUNG)


def test_versions_change_and_a_bad_one_is_refused_and_it_stops_under_load(
    two_versions: Path, server: Server
) -> None:
    port, process, workers = server
    first = current(two_versions)
    ids = [first, first.replace("-1", "-2")]
    load, log = Load(port), Log(process)
    with load.running():
        for number in range(1, SWAPS + 1):
            serve(two_versions, ids[number % 2])
            wait_for(load, ids[number % 2])
        wait_until_mapped(process, two_versions, {ids[SWAPS % 2]})  # in every worker, whichever answers
        bad, kept = next_version(two_versions), two_versions / VERSIONS
        flip_middle(shutil.copytree(kept / current(two_versions), kept / bad) / "de.faiss")
        serve(two_versions, bad)
        refusals = int(workers)  # by the watch of each
        until(lambda: log.count(f"version {bad} is refused") >= refusals, "the watch does not see it", HUNG)
        wait_for(load, ids[SWAPS % 2])
        wait_until_mapped(process, two_versions, {ids[SWAPS % 2]})
        shutil.rmtree(two_versions / VERSIONS / bad)
        serve(two_versions, first)
        assert load.faults == []
        started = time.monotonic()
        process.terminate()
        process.wait(timeout=20)
        log.close()
        assert time.monotonic() - started < 10
    assert process.returncode == 0
    assert load.faults == []
    assert load.told_to_leave == CLIENTS
    assert log.count("Traceback") == 0


@pytest.mark.parametrize("server", ["1"], indirect=True)
def test_requests_of_clients_that_leave_are_cancelled(server: Server) -> None:
    port, _, _ = server
    texts = [f"A small dog runs on beach {number}." for number in range(256)]
    body = json.dumps({"text": texts, "source": "en", "target": ["de", "ar", "pt", "zh"]}).encode()
    head = f"POST /translate/sentence HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
    sent = head.encode() + b"Content-Type: application/json\r\n\r\n" + body
    for _ in range(50):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(sent)
    load = Load(port)
    with load.running(1):
        until(lambda: len(load.versions) >= 5, "it still computes for clients that left", 10)
    assert load.faults == []
