"""Jobs from the request to the new version that answers: real service, real Redis, real workers."""

import bz2
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from index.storage.versions import current, versions
from service.client import Client
from tests.service.conftest import RedisServer
from tests.service.jobs.conftest import KEY, Stage
from tests.waiting import until

HEAD = '<?xml version="1.0"?><tmx version="1.4"><header srclang="en"/><body>'
UNIT = '<tu><tuv xml:lang="en"><seg>{}</seg></tuv><tuv xml:lang="de"><seg>Das Pferd springt.</seg></tuv></tu>'
TMX = f"{HEAD}{UNIT.format('A big horse jumps.')}</body></tmx>".encode()


@pytest.fixture(scope="module", autouse=True)
def _worker(stage: Stage) -> Iterator[None]:
    with stage.working():
        yield


def translation(stage: Stage, text: str) -> tuple[str, str]:
    """The best German sentence, and the version that it is of."""
    with Client(stage.url) as client:
        found = client.sentences(text, "de", source="en", min_confidence=0)
        return found.results[0].translations["de"][0].text, found.index


def test_an_upload_becomes_a_job_with_events_and_the_new_version_answers(stage: Stage) -> None:
    kept = stage.upload(bz2.compress(TMX), name="memory.tmx.bz2")
    assert kept.status_code == 201
    own, name = kept.json()["id"], kept.json()["file"]
    job = stage.submit(action="add", uploads=[own])
    assert (job["state"], job["action"], job["by"], job["attempts"]) == ("queued", "add", "boss", 0)
    told = list(stage.told(job["id"]))
    assert told[0]["state"] == "queued"
    assert {now["state"] for now in told} == {"queued", "running", "succeeded"}
    assert {"check", "encode"} & {now["stage"] for now in told}
    end = told[-1]
    assert (end["state"], end["version"], end["attempts"]) == ("succeeded", current(stage.index), 1)
    # It answers at once: who was told so need not wait for the service to look.
    assert translation(stage, "A big horse jumps.") == ("Das Pferd springt.", end["version"])
    assert stage.texts("de")[f"de:{name}:1"] == "Das Pferd springt."
    # Only when its success is told for sure: a job that is repeated needs the upload again.
    until(lambda: not list(stage.spool.iterdir()), "the upload is kept")
    listed = stage.ask("GET", "/admin/jobs").json()
    assert (listed["jobs"][0], listed["workers"]) == (end, 1)


def test_changes_by_id_sent_at_once_are_made_one_after_another(stage: Stage) -> None:
    before = stage.texts("de")
    first, second, *_ = before
    changes = [
        {"action": "add", "sentences": [{"id": "de:neu", "text": "Der Vertrag gilt.", "metadata": {"a": 1}}]},
        {"action": "add", "sentences": [{"id": "de:neu/2", "text": "Nein danke."}]},
        {"action": "replace", "sentences": [{"id": first, "text": "Ein ganz anderer Satz."}]},
        {"action": "delete", "ids": [second]},
    ]
    with stage.working(), ThreadPoolExecutor(4) as pool:  # two workers
        jobs = list(pool.map(lambda change: stage.submit(**change), changes))
        ended = [stage.end(job["id"]) for job in jobs]
    assert [(job["state"], job.get("reason")) for job in ended] == [("succeeded", None)] * 4
    assert len({job["version"] for job in ended}) == 4
    after = stage.texts("de")
    assert {own: text for own, text in after.items() if before.get(own) != text} == {
        "de:neu": "Der Vertrag gilt.",
        "de:neu/2": "Nein danke.",
        first: "Ein ganz anderer Satz.",
    }
    assert set(before) - set(after) == {second}


def test_a_change_for_one_version_that_is_sent_again_is_made_once(stage: Stage) -> None:
    seen, count = current(stage.index), len(versions(stage.index))
    change = {"action": "replace", "sentences": [{"id": list(stage.texts("en"))[-1], "text": "A fish."}]}
    with ThreadPoolExecutor(4) as pool:
        jobs = list(pool.map(lambda _: stage.submit(if_match=seen, **change), range(4)))
    ended = [stage.end(job["id"]) for job in jobs]
    assert sorted(job["state"] for job in ended) == ["failed"] * 3 + ["succeeded"]
    refused = [job["reason"] for job in ended if job["state"] == "failed"]
    assert all(f"no longer at version {seen}" in reason for reason in refused)
    assert len(versions(stage.index)) == count + 1
    late = stage.ask("POST", "/admin/jobs", json=change, headers={"If-Match": seen})
    assert (late.status_code, late.json()["type"]) == (412, "/problems/outdated")


def test_rollback_and_garbage_collection(stage: Stage) -> None:
    first, last = versions(stage.index)[0], current(stage.index)
    assert stage.end(stage.submit(action="rollback", version=first)["id"])["version"] == first
    assert translation(stage, "A big horse jumps.")[1] == first
    told = stage.ask("GET", "/admin/versions").json()
    assert (told["current"], told["served"]) == (first, first)
    assert [version["id"] for version in told["versions"]] == versions(stage.index)[::-1]
    assert told["versions"][-1]["sentences"] == {"en": 40, "de": 40}
    none = stage.end(stage.submit(action="rollback")["id"])
    assert none["state"] == "failed"
    assert none["reason"].startswith(f"the index has no version before {first}")
    assert stage.end(stage.submit(action="rollback", version=last)["id"])["version"] == last
    stage.end(stage.submit(action="gc", keep=1)["id"])
    assert versions(stage.index) == [last]


def test_a_damaged_index_can_be_listed_and_rolled_back(stage: Stage) -> None:
    good = current(stage.index)
    damaged = stage.index / "versions" / "20200101-1"
    damaged.mkdir()
    (damaged / "manifest.json").write_text('{"x')
    (stage.index / "CURRENT").write_text("")
    told = stage.ask("GET", "/admin/versions").json()
    assert (told["current"], told["served"]) == (None, good)
    assert [version["id"] for version in told["versions"]] == versions(stage.index)[:0:-1]
    late = stage.ask("POST", "/admin/jobs", json={"action": "gc"}, headers={"If-Match": good})
    assert late.status_code == 412
    assert stage.end(stage.submit(action="rollback", version=good)["id"])["version"] == good
    assert stage.ask("GET", "/admin/versions").json()["current"] == good
    shutil.rmtree(damaged)


def test_a_build_replaces_everything(stage: Stage) -> None:
    kept = stage.upload(TMX, format="tmx").json()["id"]
    job = stage.end(stage.submit(action="build", uploads=[kept])["id"])
    assert (job["state"], job["version"]) == ("succeeded", current(stage.index))
    assert stage.texts("de") == {"de:1": "Das Pferd springt."}
    assert stage.texts("en") == {"en:1": "A big horse jumps."}


@pytest.mark.usefixtures("untouched")
def test_nothing_that_redis_holds_is_called_or_unpickled(stage: Stage, redis: RedisServer) -> None:
    """Whoever can write there could else run anything here."""
    import redis as client
    from rq import Queue
    from rq.serializers import JSONSerializer

    with client.Redis.from_url(redis.url) as connection:
        mark = stage.index.parent / "called"
        queue = Queue("passepartout", connection=connection, serializer=JSONSerializer)
        evil = queue.enqueue_call("os.mkdir", args=(str(mark),), on_failure=None)
        connection.hset(
            evil.key, mapping={"failure_callback_name": "os.abort", "stopped_callback_name": "os.abort"}
        )
        until(lambda: evil.get_status() in ("failed", "finished"), "the job does not end")
        assert not mark.exists()
        values = [connection.hgetall(key) for key in connection.keys("rq:job:*")]
        assert values
        assert not [value for found in values for value in found.values() if value.startswith(b"\x80")]
    assert stage.ask("GET", f"/admin/jobs/{evil.id}").status_code == 404
    assert stage.ask("GET", "/admin/jobs").status_code == 200
    assert KEY not in str(values)
