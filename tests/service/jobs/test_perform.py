"""What a job does, without a worker: begun again, it finds what it has done already."""

import asyncio
import gzip
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from index.build.maintenance import roll_back
from index.errors import OutdatedError
from index.storage.versions import current, locked, manifest_of, versions
from service import limits
from service.jobs.perform import perform
from service.jobs.queue import INTERRUPTED_REASON, JobQueue, Record
from service.jobs.spool import Spool
from service.schemas.jobs import Event, Spec, UploadOptions
from service.settings import Settings
from tests.damage import longest_file
from tests.service.conftest import RedisServer

HUND = {"id": "de:neu", "text": "Der Vertrag gilt.", "group": "a"}


@pytest.fixture
def connection(redis: RedisServer) -> Iterator[Redis]:
    with Redis.from_url(redis.url, protocol=2) as connection:
        yield connection
        connection.flushdb()


@pytest.fixture
def record(connection: Redis) -> Record:
    return Record(connection, "0" * 32)


@pytest.fixture
def place(small_index: Path, tmp_path: Path) -> Settings:
    """Settings with an index and a spool of one's own."""
    return Settings(index=shutil.copytree(small_index, tmp_path / "index"))


def spec(**request: Any) -> Spec:  # noqa: ANN401
    return Spec.model_validate({"request": request, "by": "boss"})


def upload(place: Settings, content: bytes, **options: str) -> str:
    """The ID of a file that waits to be added."""

    async def chunks() -> AsyncIterator[bytes]:
        yield content

    return asyncio.run(Spool(place).take(chunks(), UploadOptions.model_validate(options))).id


def done(record: Record) -> Event:
    found = record.last()
    assert found is not None
    return found


def forget(connection: Redis, record: Record) -> None:
    """As if the worker had died before it could tell."""
    connection.hdel(record.key, "event")


def test_a_job_killed_before_it_could_tell_is_not_done_twice(
    connection: Redis, record: Record, place: Settings
) -> None:
    first = current(place.index)
    for change in ({"action": "add", "sentences": [HUND]}, {"action": "delete", "ids": ["de:neu"]}):
        there = len(versions(place.index))
        record.key += "+"
        perform(spec(**change), record, place)
        made = done(record).version
        forget(connection, record)
        perform(spec(**change), record, place)
        assert (done(record).state, done(record).version) == ("succeeded", made)
        assert len(versions(place.index)) == there + 1
        connection.flushdb()
    # Nor goes it back twice.
    for _ in range(2):
        perform(spec(action="rollback"), record, place)
        forget(connection, record)
    assert versions(place.index).index(current(place.index)) == 1
    roll_back(place.index, first)
    # One that has told is not begun at all.
    record.tell(Event(state="cancelled"))
    perform(spec(action="delete", ids=["de:1"]), record, place)
    assert (done(record).state, current(place.index)) == ("cancelled", first)


def test_a_change_of_a_version_that_is_served_no_longer_is_made_of_the_one_that_is(
    connection: Redis, record: Record, place: Settings
) -> None:
    record.save("base", current(place.index))
    other = Record(connection, "1" * 32)
    perform(spec(action="delete", ids=["de:1"]), other, place)
    perform(spec(action="delete", ids=["de:2"]), record, place)
    assert record.saved("base") == done(other).version
    assert done(record).version == current(place.index) == versions(place.index)[-1]


def test_sentences_dropped_by_cleaning_are_reported(record: Record, place: Settings) -> None:
    twice = [{"id": f"de:{n}", "text": "Der Vertrag gilt."} for n in ("a", "b")]
    perform(spec(action="add", sentences=twice), record, place)
    assert done(record).dropped == {"duplicate": 1}


def test_it_waits_for_another_build_and_heeds_a_cancellation(record: Record, place: Settings) -> None:
    record.save("cancelled", "yes")
    with locked(place.index):
        perform(spec(action="gc"), record, place)
    assert done(record).state == "cancelled"


def test_a_full_disk_is_reported(record: Record, place: Settings) -> None:
    long = HUND | {"text": "x" * 2000}
    with longest_file(1000):
        perform(spec(action="add", sentences=[long]), record, place)
    assert done(record).reason == "the worker's disk is full: free space, then send it again"


def test_an_unexpected_error_is_reported_without_its_message(
    record: Record, place: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("Der Vertrag gilt.")

    monkeypatch.setattr("service.jobs.perform.change_index", broken)
    perform(spec(action="delete", ids=["de:1"]), record, place)
    assert done(record).reason == "an error of the service: the worker's log has the details"
    assert [entry.getMessage() for entry in caplog.records][:1] == ["fault"]
    assert "Vertrag" not in caplog.text


def test_a_job_that_workers_die_of_has_failed(redis: RedisServer, connection: Redis) -> None:
    queue = JobQueue(redis.url)
    job = queue.submit(spec(action="gc"))
    connection.hset(f"rq:job:{job.id}", "status", "failed")
    connection.hset(f"rq:job:{job.id}", "retries_left", "0")
    found = queue.find(job.id)
    assert found is not None
    assert (found.state, found.reason) == ("failed", INTERRUPTED_REASON)
    assert [one.id for one in queue.latest()] == [job.id]
    queue.close()


def test_bad_rows_are_skipped_and_named_as_the_user_names_the_file(record: Record, place: Settings) -> None:
    content = b"English;Deutsch\nA wolf.;Ein Wolf.\nalone\n"
    own = upload(place, content, format="csv", name="my list.csv", columns="en=English,de=Deutsch")
    perform(spec(action="add", uploads=[own]), record, place)
    event = done(record)
    assert (event.state, event.skipped) == ("succeeded", 1)
    assert event.skipped_units == ["my list.csv, line 3: 1 cells, but line 1 names 2: fix the line"]


TMX = b"<tmx><body>%b</body></tmx>"
ENTITIES = b'<!DOCTYPE tmx [<!ENTITY a "dog"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>' + TMX % b"&b;"


@pytest.mark.parametrize(
    ("content", "options", "reason"),
    [
        (TMX[:-9], {"name": "memory.tmx"}, "memory.tmx, line 1: not well-formed XML"),
        (ENTITIES, {"name": "memory.tmx"}, "it declares entities, which are refused"),
        (
            gzip.compress(bytes(16 << 20)),
            {"name": "bomb.txt.gz", "language": "de"},
            "longer than 4194304 bytes, decompressed",
        ),
        (TMX, {"name": "memory.tmx.gz"}, "cannot be read (Not a gzipped file"),
        (
            b'{"text": "Un chien.", "language": "fr"}',
            {"name": "x.jsonl"},
            "nothing in a language that tiny@1 knows",
        ),
    ],
    ids=["cut short", "entities", "gzip bomb", "no gzip", "unknown language"],
)
def test_a_bad_file_fails_in_one_line_and_changes_nothing(
    record: Record,
    place: Settings,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    options: dict[str, str],
    reason: str,
) -> None:
    monkeypatch.setattr(limits, "MAX_CORPUS_BYTES", 4 << 20)
    before = versions(place.index)
    perform(spec(action="add", uploads=[upload(place, content, **options)]), record, place)
    event = done(record)
    assert (event.state, event.version, versions(place.index)) == ("failed", None, before)
    assert reason in str(event.reason)
    assert "\n" not in str(event.reason)
    assert "/" not in str(event.reason).replace("</", "")


def test_what_names_a_version_changes_no_other(record: Record, connection: Redis, place: Settings) -> None:
    seen = current(place.index)
    perform(spec(action="delete", ids=["de:1"]), record, place)
    served = current(place.index)
    for number, change in enumerate(
        [{"action": "rollback"}, {"action": "gc", "keep": 1}, {"action": "delete", "ids": ["de:2"]}], 2
    ):
        late = Record(connection, str(number) * 32)
        perform(Spec.model_validate({"request": change, "by": "boss", "version": seen}), late, place)
        assert done(late).reason == f"the index is no longer at version {seen}: read it again"
    assert (current(place.index), len(versions(place.index))) == (served, 2)


def test_a_language_is_taught_to_the_version_that_is_served(
    record: Record, connection: Redis, place: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although another was when the job first began; what was learned is not what this is about."""
    record.save("base", current(place.index))
    perform(spec(action="delete", ids=["de:1"]), Record(connection, "1" * 32), place)
    served, taught = current(place.index), []

    def teach(index: Path, language: str, captions: object, *, base: str, job: str) -> tuple[object, None]:
        taught.append(base)
        if base != served:
            raise OutdatedError("another version is served now")
        return manifest_of(index, served), None

    monkeypatch.setattr("service.jobs.perform.teach_index", teach)
    perform(
        spec(action="teach", language="eo", captions=[{"picture": "🐕", "text": "hundo"}] * 10), record, place
    )
    assert (taught[-1], done(record).state, done(record).version) == (served, "succeeded", served)
