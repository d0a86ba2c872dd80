"""Workers that die, jobs that are cancelled, a queue that is not there: nothing is lost or half done."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from redis import Redis

from index.errors import PassepartoutError
from index.storage.versions import current, versions
from service.jobs.worker import make_worker
from service.settings import load_settings
from tests.service.conftest import RedisServer
from tests.service.jobs.conftest import Stage, children
from tests.waiting import until


def lines(count: int) -> bytes:
    """So many English sentences, all different."""
    return "".join(f"A small dog runs to house {n}.\n" for n in range(count)).encode()


def begun(stage: Stage, label: str, count: int) -> str:
    """A job that is in this part of its work."""
    kept = stage.upload(lines(count), format="txt", language="en").json()["id"]
    own: str = stage.submit(action="add", uploads=[kept])["id"]
    for now in stage.told(own):
        if now.get("stage") == label:
            return own
    raise AssertionError(f"never in {label}")


def kill(process: "subprocess.Popen[str]") -> None:
    """The worker and all that it has begun, with SIGKILL."""
    found = children(process.pid)
    process.send_signal(signal.SIGSTOP)  # it shall see none of it
    for child in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    process.kill()
    process.wait()


def kill_job(stage: Stage, process: "subprocess.Popen[str]", own: str) -> None:
    """A job's process, as soon as it has begun; the job may be quicker."""

    def begun() -> list[int] | bool:
        return (
            children(process.pid)[-1:]
            or stage.ask("GET", f"/admin/jobs/{own}").json()["state"] == "succeeded"
        )

    if isinstance(horse := until(begun, "no job was begun"), list):
        with contextlib.suppress(ProcessLookupError):
            os.kill(horse[0], signal.SIGKILL)


def test_a_job_whose_worker_is_killed_is_resumed_and_makes_one_version(stage: Stage) -> None:
    before, there = current(stage.index), versions(stage.index)
    with stage.working() as process:
        own = begun(stage, "encode", 10_000)  # few are encoded before anybody looks
        kill(process)
    assert (current(stage.index), versions(stage.index)) == (before, there)
    assert stage.ask("GET", f"/admin/jobs/{own}").json()["state"] == "running"
    with stage.working() as process:
        job = stage.end(own)
        assert (job["state"], job["attempts"]) == ("succeeded", 2)
        assert versions(stage.index) == [*there, job["version"]] == [*there, current(stage.index)]
        assert len(stage.texts("en")) == 10_040
        assert [path.name for path in (stage.index / "work").iterdir()] == ["LOCK"]


def test_every_kind_of_job_outlives_its_process(stage: Stage) -> None:
    """Each is killed as soon as it has begun, and made exactly once."""
    pictures = 4 * stage.ask("GET", "/teach/pictures").json()["results"]
    captions = [{"picture": one["picture"], "text": f"vorto {n}"} for n, one in enumerate(pictures)]
    upload = stage.upload(lines(50), name="lines.txt", language="en").json()["id"]
    kinds: list[dict[str, Any]] = [
        {"action": "add", "sentences": [{"id": "de:neu", "text": "Ein Pferd wiehert."}]},
        {"action": "replace", "sentences": [{"id": "de:neu", "text": "Ein Pferd springt."}]},
        {"action": "delete", "ids": ["de:neu"]},
        {"action": "teach", "language": "eo", "captions": captions},
        {"action": "build", "uploads": [upload]},
        {"action": "rollback"},
        {"action": "gc", "keep": 50},
    ]
    with stage.working() as process:
        for change in kinds:
            there = versions(stage.index)
            own = stage.submit(**change)["id"]
            kill_job(stage, process, own)
            job = stage.end(own)
            assert job["state"] == "succeeded", (change["action"], job["reason"])
            new = versions(stage.index)[len(there) :]
            assert new == ([] if change["action"] in ("rollback", "gc") else [job["version"]])
            assert current(stage.index) == job["version"]
            assert [path.name for path in (stage.index / "work").iterdir()] == ["LOCK"]


@pytest.mark.usefixtures("untouched")
def test_jobs_are_cancelled_before_and_while_they_run(stage: Stage) -> None:
    with stage.working():
        own = begun(stage, "check", 2500)
        waiting = stage.submit(action="delete", ids=["de:1"])["id"]
        for job in (waiting, own):
            assert stage.ask("POST", f"/admin/jobs/{job}/cancel").status_code == 200
        for job in (waiting, own):
            assert stage.end(job)["state"] == "cancelled"
            assert stage.ask("POST", f"/admin/jobs/{job}/cancel").json()["state"] == "cancelled"
        # The next one finds the index free.
        assert stage.end(stage.submit(action="gc", keep=9)["id"])["state"] == "succeeded"
    assert stage.ask("GET", "/admin/jobs").json()["jobs"][1]["state"] == "cancelled"


def test_damaged_records_stop_no_worker(stage: Stage, redis: RedisServer) -> None:
    fields = ("created_at", "timeout", "status", "retry_intervals", "data")
    bad = [stage.submit(action="gc", keep=9)["id"] for _ in fields]
    with Redis.from_url(redis.url) as connection:
        for own, field in zip(bad, fields, strict=True):
            connection.hset(f"rq:job:{own}", field, b"\xff\x00")
    good = stage.submit(action="gc", keep=9)["id"]
    with stage.working() as process:
        assert stage.end(good)["state"] == "succeeded"
        assert process.poll() is None
    listed = [job["id"] for job in stage.ask("GET", "/admin/jobs").json()["jobs"]]
    assert good in listed
    assert not set(bad) & set(listed)


def test_a_worker_without_a_queue_says_so_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for url, wanted in (("", "set PASSEPARTOUT_JOBS_URL"), ("redis://:pass@127.0.0.1:1", "does not answer")):
        monkeypatch.setenv("PASSEPARTOUT_JOBS_URL", url)
        with pytest.raises(PassepartoutError, match=wanted) as error:
            make_worker(load_settings())
        assert "pass@" not in str(error.value)


def test_a_worker_stops_when_told_to(stage: Stage, redis: RedisServer) -> None:
    with Redis.from_url(redis.url) as connection:
        connection.flushdb()  # jobs that were killed above are told of, with their traceback
    with stage.working() as process:
        stage.end(stage.submit(action="gc", keep=9)["id"])
        assert stage.ask("GET", "/admin/jobs").json()["workers"] >= 1
        process.terminate()
        assert process.wait(timeout=10) == 0
        assert process.stderr is not None
        said = process.stderr.read()
        assert "Traceback" not in said, said
        until(lambda: not stage.ask("GET", "/admin/jobs").json()["workers"], "the worker is still there")


@pytest.fixture
def broken(stage: Stage, redis: RedisServer) -> Iterator[Stage]:
    redis.freeze()
    yield stage
    redis.thaw()


def test_a_queue_that_does_not_answer_is_reported(broken: Stage) -> None:
    answer = broken.ask("POST", "/admin/jobs", json={"action": "gc"})
    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/jobs-unreachable")
    assert answer.headers["retry-after"] == "5"
    assert broken.ask("GET", "/health/ready").status_code == 200
