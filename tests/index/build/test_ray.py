"""Encoding on a Ray cluster: a real one of two workers, on this machine, one of which is killed."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from index.build import ray, reading
from index.build.build_index import build_index
from index.build.encoding import BuildJob, Shards
from index.build.lexicon import detector_of
from index.build.ray import RayPool, Setup
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import PassepartoutError
from index.storage.files import entries_of
from index.storage.index_manifest import IndexManifest
from index.text.identification import Detector
from tests.bundles import make_corpus
from tests.conftest import Fails
from tests.waiting import until

WORKERS = 2


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a cluster, which this process belongs to."""
    import ray as library

    with pytest.MonkeyPatch.context() as patch:
        for name in ("RAY_ADDRESS", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
            patch.delenv(name, raising=False)
        # What other tests leave to the machine is no reason to kill workers here.
        patch.setenv("RAY_memory_monitor_refresh_ms", "0")
        for name, value in ray.ENVIRONMENT.items():
            patch.setenv(name, value)
        folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # a longer path has no room for sockets
        options = {"num_cpus": WORKERS, "include_dashboard": False, "log_to_driver": False}
        library.init("local", object_store_memory=128 << 20, _temp_dir=folder, **options)
        yield library.get_runtime_context().gcs_address
        library.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def job(bundle: Bundle, tmp_path: Path) -> BuildJob:
    return BuildJob(tmp_path, tmp_path, bundle, TextEncoder(bundle), WORKERS)


@pytest.fixture(scope="module")
def detector(bundle: Bundle) -> Detector:
    return detector_of(TextEncoder(bundle), {})


@pytest.fixture
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Twenty shards a language."""
    monkeypatch.setattr(reading, "SHARD_LINES", 20)
    return make_corpus(tmp_path / "corpus", ("en", "de"), count=400)


@pytest.fixture
def encoders(cluster: str, job: BuildJob, detector: Detector) -> Iterator[RayPool]:
    with RayPool(job, detector, "auto") as encoders:
        assert isinstance(encoders, RayPool)
        yield encoders


def workers(encoders: RayPool, meeting: Path) -> set[int]:
    """The processes that tasks run in: as many tasks as workers, each of which waits for the others."""
    meeting.mkdir()
    return {encoders.result(future) for future in [encoders.submit(_meet, meeting) for _ in range(WORKERS)]}


def _meet(meeting: Path) -> int:
    (meeting / str(os.getpid())).touch()
    until(lambda: len(list(meeting.iterdir())) == WORKERS, "the other workers have not started")
    return os.getpid()


def test_a_killed_worker_costs_nothing_and_the_index_is_the_same(
    bundle: Bundle,
    corpora: dict[str, Path],
    encoders: RayPool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    local = build_index(bundle, corpora, tmp_path / "local")
    before = workers(encoders, tmp_path / "meeting")
    assert len(before) == WORKERS
    finished = 0
    killed: list[int] = []
    finish = Shards.finish

    def stopped_half_way(self: Shards, *given: Any) -> None:  # noqa: ANN401
        nonlocal finished
        finish(self, *given)
        finished += 1
        if finished == 10:
            # Stopped, they cannot finish what they have; so the one that is killed dies with work.
            for pid in before:
                os.kill(pid, signal.SIGSTOP)
            Timer(0.5, _kill_one, [sorted(before), killed]).start()

    monkeypatch.setattr(Shards, "finish", stopped_half_way)
    made = build_index(bundle, corpora, tmp_path / "ray", ray="auto")
    assert finished == 40
    assert killed == [min(before)]
    assert made.files == local.files
    assert folder(tmp_path / "ray", made) == folder(tmp_path / "local", local)


def _kill_one(pids: list[int], killed: list[int]) -> None:
    os.kill(pids[0], signal.SIGKILL)
    killed.append(pids[0])
    for pid in pids[1:]:
        os.kill(pid, signal.SIGCONT)


def folder(index: Path, manifest: IndexManifest) -> dict[str, str]:
    """The checksums of a version's files, without its manifest, which has the time."""
    found = entries_of(index / "versions" / manifest.version)
    return {name: entry.sha256 for name, entry in found.items() if name != "manifest.json"}


def test_a_shard_that_kills_its_workers_is_given_up(
    cluster: str, job: BuildJob, detector: Detector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray, "TASK_RETRIES", 1)  # a try takes a second
    with RayPool(job, detector, "auto") as encoders:
        with pytest.raises(PassepartoutError, match=r"^Ray gave up a shard after 1 further tries .*$"):
            encoders.result(encoders.submit(_die, tmp_path / "tries"))
        assert (tmp_path / "tries").read_text() == "xx"
        assert encoders.encode("en", ["A dog."], check_language=False).result().foreign == [False]


def _die(tries: Path) -> None:
    with tries.open("a") as file:
        file.write("x")
    os.kill(os.getpid(), signal.SIGKILL)


def test_other_software_is_refused_by_the_worker(bundle: Bundle, detector: Detector) -> None:
    setup = Setup.of(bundle, detector)
    other = {**setup.software, "onnxruntime": "0.1"}
    with pytest.raises(PassepartoutError, match=r"^a Ray worker has onnxruntime \d.*, this machine 0\.1: "):
        setup._replace(software=other).worker()
    assert setup.worker().encode("en", ["A dog."], False).foreign == [False]


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("127.0.0.1:9", "no Ray cluster at 127.0.0.1:9 .*refused"),
        ("ray://127.0.0.1:9", "no Ray cluster at ray://127.0.0.1:9"),
        ("127.0.0.1:99999", "no Ray cluster at"),
        ("http://127.0.0.1:9", "no Ray cluster at .*: give HOST:PORT or auto"),
        ("127.0.0.1", "no Ray cluster at .*: give HOST:PORT or auto"),
    ],
)
def test_a_cluster_that_is_not_there(job: BuildJob, detector: Detector, address: str, told: str) -> None:
    with pytest.raises(PassepartoutError, match=told) as caught, RayPool(job, detector, address):
        pass
    assert "\n" not in str(caught.value)


def test_the_command_asks_for_the_cluster(
    bundle: Bundle, corpora: dict[str, Path], tmp_path: Path, fails: Fails
) -> None:
    given = ["--encoder", bundle.folder, "--corpus", f"en={corpora['en']}", "--out", tmp_path / "x"]
    assert "no Ray cluster at 127.0.0.1:9" in fails("index", "build", *given, "--ray", "127.0.0.1:9", code=1)
