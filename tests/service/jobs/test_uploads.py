"""Uploads: what is kept and what is refused, before any job looks at it."""

import contextlib
import http.client
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from index.errors import UsageError
from service import limits
from service.jobs.spool import ABANDONED_SECONDS, Spool
from service.settings import Settings
from tests.damage import longest_file
from tests.service.conftest import ClientFactory, RedisServer
from tests.service.jobs.conftest import ADMINS, KEY, Stage
from tests.waiting import until

HEADERS = {"X-API-Key": KEY, "Content-Type": "application/octet-stream"}
JSON = {"X-API-Key": KEY, "Content-Type": "application/json"}
TSV = {"format": "tsv"}
CHANGES = [
    ({"action": "add", "uploads": ["0" * 32]}, "uploads[0] is not a pending upload"),
    ({"action": "build", "uploads": ["../../etc/passwd"]}, "build.uploads[0] must match ^[0-9a-f]{32}$"),
    ({"action": "build", "uploads": []}, "build.uploads is an empty list"),
    ({"action": "add"}, "give sentences or uploads"),
    ({"action": "add", "sentences": [{"id": "xx:1", "text": "a"}]}, "'xx'"),
    ({"action": "add", "sentences": [{"id": "nothing", "text": "a"}]}, "add.sentences[0].id must match"),
    (
        {"action": "add", "sentences": [{"id": "de:1", "text": "a", "metadata": {"text": "b"}}]},
        "metadata cannot contain text",
    ),
    ({"action": "add", "sentences": [{"id": "de:1", "text": "a", "metadata": {"b": 1e999}}]}, "JSON"),
    ({"action": "delete", "ids": []}, "delete.ids is an empty list"),
    ({"action": "rollback", "version": "../1"}, "rollback.version must match"),
    ({"action": "gc", "keep": 0}, "gc.keep is 0, the least is 1"),
    ({"action": "drop"}, "action must be one of 'add', 'replace', 'delete', 'build', 'rollback', 'gc'"),
    ({}, "action is missing"),
    ({"action": "gc", "index": "/tmp"}, "index is not a field"),
]


@pytest.fixture
def client(
    make_client: ClientFactory, redis: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> TestClient:
    monkeypatch.setattr(limits, "MAX_SPOOL_BYTES", 5000)
    return make_client(admin_keys=ADMINS, jobs_url=redis.url, spool=tmp_path / "spool", max_upload_bytes=3000)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Where uploads are kept."""
    return tmp_path / "spool" / "uploads"


def chunks(count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield b"x" * 100


def test_a_file_is_kept_under_a_generated_name(client: TestClient, kept: Path) -> None:
    more = {"name": "..my table.tsv.gz", "columns": "source=English,target=German"}
    query = {"language": "de", **more}
    answer = client.post("/admin/uploads", params=query, content=chunks(25), headers=HEADERS)
    assert answer.status_code == 201
    found = answer.json()
    assert {name: found[name] for name in more} == more
    folder = kept / found["id"]
    assert {path.name for path in folder.iterdir()} == {found["file"], "about.json"}
    assert found["file"] == f"{found['sha256'][:16]}.tsv.gz"
    assert (folder / found["file"]).read_bytes() == b"x" * 2500 == b"x" * found["bytes"]
    Spool(Settings(spool=kept.parent)).remove(found["id"])
    assert list(kept.iterdir()) == []


@pytest.mark.parametrize(
    "names", [("app_en.json", "app_de.json.gz"), ("news.en", "news.de"), ("en/strings.xml", "de/strings.xml")]
)
def test_files_that_translate_each_other_by_name_have_one_here(
    client: TestClient, names: tuple[str, str]
) -> None:
    kept = []
    for name, language in zip(names, ("en", "de"), strict=True):
        query = {"name": name.rpartition("/")[2], "language": language}
        query |= {"format": "android"} if name.endswith(".xml") else {}
        kept.append(client.post("/admin/uploads", params=query, content=name, headers=HEADERS).json()["file"])
    one, other = (file.partition(".")[0] for file in kept)
    assert one == other


@pytest.mark.parametrize("declared", [True, False])
def test_what_is_too_long_is_refused(client: TestClient, kept: Path, declared: bool) -> None:
    content = b"x" * 3100 if declared else chunks(31)
    answer = client.post("/admin/uploads", params=TSV, content=content, headers=HEADERS)
    assert (answer.status_code, answer.headers["connection"]) == (413, "close")
    assert "3000 bytes" in answer.json()["detail"]
    assert not kept.is_dir() or list(kept.iterdir()) == []
    answer = client.post("/admin/jobs", content=b" " * (limits.MAX_BODY_BYTES + 1), headers=HEADERS)
    assert (answer.status_code, f"{limits.MAX_BODY_BYTES} bytes" in answer.json()["detail"]) == (413, True)


def test_uploads_together_are_bounded(client: TestClient, kept: Path) -> None:
    statuses = [
        client.post("/admin/uploads", params=TSV, content=b"x" * 2000, headers=HEADERS).status_code
        for _ in range(3)
    ]
    assert statuses == [201, 201, 507]
    assert len(list(kept.iterdir())) == 2


def test_a_full_disk_is_named_and_nothing_stays(client: TestClient, kept: Path) -> None:
    with longest_file(1000):
        answer = client.post("/admin/uploads", params=TSV, content=b"x" * 2000, headers=HEADERS)
    assert (answer.status_code, answer.json()["type"]) == (507, "/problems/disk-full")
    assert answer.headers["connection"] == "close"
    assert list(kept.iterdir()) == []
    assert client.post("/admin/uploads", params=TSV, content=b"x" * 2000, headers=HEADERS).status_code == 201


@pytest.mark.parametrize(
    ("query", "headers", "status", "wanted"),
    [
        ({"format": "parquet"}, {}, 422, "format: must be one of txt, moses, tsv"),
        ({}, {}, 422, "name is missing"),
        ({"name": "a.parquet"}, {}, 422, "Parquet is not supported: save it as JSON Lines"),
        ({"format": "txt"}, {}, 422, "language is missing"),
        ({"format": "tsv", "language": "../x"}, {}, 422, "language must match"),
        ({"format": "tsv", "language": "fr"}, {}, 422, "'fr'"),
        (TSV | {"name": "../x.tsv"}, {}, 422, "name must match"),
        (TSV | {"name": "x" * 201}, {}, 422, "name must match"),
        (TSV | {"columns": "en"}, {}, 422, "'en' is not MEANING=COLUMN"),
        (TSV | {"columns": "source=Sentences"}, {}, 422, "is not named after a language"),
        ({"columns": "en=English", "format": "tmx"}, {}, 422, "only tables have some"),
        (TSV, {"Content-Type": "multipart/form-data"}, 415, "send the body as the file itself, application/"),
    ],
)
def test_format_name_and_columns_of_an_upload_are_checked(
    client: TestClient, query: dict[str, str], headers: dict[str, str], status: int, wanted: str
) -> None:
    answer = client.post("/admin/uploads", params=query, content=b"a\tb\n", headers=HEADERS | headers)
    assert answer.status_code == status
    assert wanted in answer.json()["detail"]


def test_an_empty_upload_is_refused(client: TestClient, kept: Path) -> None:
    answer = client.post("/admin/uploads", params=TSV, content=b"", headers=HEADERS)
    assert (answer.status_code, answer.json()["detail"]) == (422, "body is empty: send a corpus file")
    assert list(kept.iterdir()) == []


@pytest.mark.parametrize(("change", "wanted"), CHANGES)
def test_a_change_that_cannot_be_is_refused_at_once(
    client: TestClient, change: dict[str, object], wanted: str
) -> None:
    answer = client.post("/admin/jobs", content=json.dumps(change).replace("Infinity", "1e999"), headers=JSON)
    assert answer.status_code == 422
    assert wanted in answer.json()["detail"]
    assert client.get("/admin/jobs", headers=JSON).json()["jobs"] == []


def test_without_a_queue_the_error_names_the_setting(make_client: ClientFactory, tmp_path: Path) -> None:
    client = make_client(admin_keys=ADMINS, spool=tmp_path)
    for answer in (
        client.post("/admin/jobs", json={"action": "gc"}, headers=JSON),
        client.get("/admin/jobs", headers=JSON),
        client.post("/admin/uploads", params=TSV, content=b"a", headers=HEADERS),
    ):
        assert (answer.status_code, answer.json()["type"]) == (409, "/problems/no-jobs")
        assert "set PASSEPARTOUT_JOBS_URL" in answer.json()["detail"]


@pytest.mark.parametrize("key", ["", "wrong", "battery"])
def test_with_another_key_nothing_is_read(stage: Stage, key: str) -> None:
    """Nor is anything awaited: the answer comes before the body does."""
    place = urlsplit(stage.url)
    with contextlib.closing(http.client.HTTPConnection(place.hostname or "", place.port, timeout=5)) as one:
        one.putrequest("POST", "/admin/uploads?format=tsv")
        one.putheader("Content-Length", str(1 << 20))
        one.putheader("X-API-Key", key)
        one.endheaders()
        assert one.getresponse().status == 401
    assert not stage.spool.exists() or list(stage.spool.iterdir()) == []


def test_nothing_stays_of_an_upload_whose_sender_leaves(stage: Stage) -> None:
    head = f"POST /admin/uploads?format=tsv HTTP/1.1\r\nHost: x\r\nX-API-Key: {KEY}\r\nContent-Length: 60\r\n"
    place = urlsplit(stage.url)
    with socket.create_connection((place.hostname, place.port), timeout=10) as connection:
        connection.sendall(f"{head}Content-Type: application/octet-stream\r\n\r\nx".encode())
        until(lambda: any(stage.spool.glob(".*")), "it is not kept while it comes")
    until(lambda: not any(stage.spool.glob(".*")), "something stays of it when its sender has left")


def test_abandoned_uploads_are_removed(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "JOB_KEPT_SECONDS", 60)
    spool = Spool(Settings(spool=kept.parent))
    for name, age in ((".a", ABANDONED_SECONDS + 9), (".b", 9), ("c" * 32, 70), ("d" * 32, 9)):
        (kept / name).mkdir(parents=True)
        os.utime(kept / name, (time.time() - age,) * 2)
    spool.sweep()
    assert {path.name for path in kept.iterdir()} == {".b", "d" * 32}
    with pytest.raises(UsageError, match="do service and worker share"):
        spool.source("d" * 32)
