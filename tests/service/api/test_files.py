"""Files over HTTP, as LibreTranslate's clients send them."""

import hashlib
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from starlette.testclient import TestClient

from index.formats.registry import DOCUMENT_EXTENSIONS, open_document
from service import limits
from service.api.files import TranslatedFiles
from service.app import create_app
from service.settings import Settings
from tests.damage import longest_file

TEXTS = b"The dog sleeps.\nThe dogs sleeps.\nNobody knows this one.\n"
FILLED = b"Der Vertrag gilt.\nThe dogs sleeps.\nNobody knows this one.\n"
KEY = "secret"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "spool" / "translated"


@pytest.fixture
def service(remembering_dir: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    for name, value in (("FILE_BYTES", 4096), ("FILE_TEXTS", 100), ("KEPT_BYTES", 2048)):
        monkeypatch.setattr(limits, f"MAX_{name}", value)
    with TestClient(create_app(Settings(index=remembering_dir, spool=folder.parent))) as client:
        yield client


def send(client: TestClient, content: bytes = TEXTS, name: str = "x.txt", **fields: str) -> Any:  # noqa: ANN401
    data = {"source": "en", "target": "de", **fields}
    return client.post("/translate_file", data=data, files={"file": (name, content)})


def fetched(client: TestClient, answer: Any) -> bytes:  # noqa: ANN401
    assert answer.status_code == 200, answer.text
    return client.get(urlsplit(answer.json()["translatedFileUrl"]).path).content


def test_a_file_is_filled_and_fetched(service: TestClient, folder: Path) -> None:
    answer = send(service)
    body = answer.json()
    assert (body["translated"], body["fuzzy"], body["empty"], body["fuzzyWritten"]) == (1, 1, 1, False)
    assert fetched(service, answer) == FILLED
    (kept,) = folder.iterdir()
    assert kept.name == urlsplit(body["translatedFileUrl"]).path.rpartition("/")[2]
    assert fetched(service, send(service, fuzzy="true")) == FILLED.replace(
        b"The dogs sleeps.", b"Der Vertrag gilt."
    )
    both = send(service, b"- The dog sleeps. The cat runs.\n")
    assert fetched(service, both) == b"- Der Vertrag gilt. Bitte warten!\n"
    assert both.json()["looksLike"] is None
    refused = send(service, fuzzy="True")
    assert (refused.status_code, refused.json()["error"]) == (400, "fuzzy is 'True': give true or false")


@pytest.mark.parametrize(
    ("sent", "fetched"),
    [
        ("a.txt", "a.txt"),
        ("menú 1.txt", "menú 1.txt"),
        ("../b\\c.txt", "c.txt"),
        ("x" * 300 + ".txt", "translated.txt"),
    ],
)
def test_a_file_is_called_as_it_was(service: TestClient, sent: str, fetched: str) -> None:
    found = service.get(send(service, name=sent).json()["translatedFileUrl"])
    (disposition,) = found.headers.get_list("content-disposition")
    plain = disposition == f'attachment; filename="{fetched}"'
    assert plain or disposition == f"attachment; filename*=utf-8''{quote(fetched)}"
    other = service.get(found.url.copy_with(params={"file": '../"x"\r\n.exe'}))
    assert other.headers["content-disposition"] == "attachment; filename*=utf-8''%22x%22.exe.txt"


def test_a_text_longer_than_a_request_may_have_stays(service: TestClient) -> None:
    long = b"The dog sleeps. " * 70
    answer = send(service, b"The dog sleeps.\n" + long + b"\n", source="auto")
    assert fetched(service, answer) == b"Der Vertrag gilt.\n" + long + b"\n"
    assert answer.json()["empty"] == 1


def test_files_that_wait_are_bounded(service: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """One is read, as many wait as may, the next gets 503 at once; texts are answered meanwhile."""
    begun, over = threading.Event(), threading.Event()

    def read_slowly(*arguments: Any) -> Any:  # noqa: ANN401
        begun.set()
        over.wait(30)
        return open_document(*arguments)

    monkeypatch.setattr("service.api.files.open_document", read_slowly)
    with ThreadPoolExecutor(8) as clients:
        first = clients.submit(send, service)
        try:
            assert begun.wait(30)
            more = [clients.submit(send, service) for _ in range(4)]
            assert next(as_completed(more, 30)).result().status_code == 503
            request = {"text": "The dog sleeps.", "source": "en", "target": "de"}
            assert service.post("/translate/sentence", json=request).status_code == 200
        finally:
            over.set()
        assert sorted(sent.result().status_code for sent in [first, *more]) == [200, 200, 200, 503, 503]


@pytest.mark.parametrize(
    ("content", "name", "fields", "words"),
    [
        (b"{", "my file.json", {}, "my file.json: not JSON"),
        (b"x", "../../etc/passwd", {}, "not a file that can be filled"),
        (b"x", "x.odt", {}, "x.odt: not a file that can be filled: give one of .txt"),
        (TEXTS, "x.txt", {"target": "xx"}, "target 'xx' is not a language"),
        (TEXTS, "x.txt", {"source": "xx"}, "source 'xx' is not a language"),
        (TEXTS, "x.txt", {"target": "en"}, "is the language of file already"),
        (b"a\n" * 101, "x.txt", {}, "101 texts, the limit is 100"),
    ],
)
def test_invalid_requests_are_reported(
    service: TestClient, folder: Path, content: bytes, name: str, fields: dict[str, str], words: str
) -> None:
    answer = send(service, content, name, **fields)
    assert answer.status_code == 400
    assert words in answer.json()["error"]
    assert not folder.exists()


def test_size_and_form_are_checked(service: TestClient) -> None:
    assert send(service, b"x" * 5000).status_code == 413
    assert service.post("/translate_file", data={"source": "en", "target": "de"}).status_code == 400
    assert service.post("/translate_file", json={}).status_code == 400
    two = [("file", ("a.txt", b"a")), ("file", ("b.txt", b"b"))]
    assert service.post("/translate_file", data={"target": "de"}, files=two).status_code == 400


def test_disk_and_time_are_bounded(service: TestClient, folder: Path) -> None:
    """Whoever sends many files takes the room from nobody: the oldest file goes."""
    lines = TEXTS.splitlines()[0] + b"\n"
    first, second = (send(service, lines * 60), send(service, lines * 60))
    assert (first.status_code, second.status_code) == (200, 200)
    (kept,) = folder.iterdir()
    assert service.get(first.json()["translatedFileUrl"]).status_code == 404
    assert service.get(second.json()["translatedFileUrl"]).status_code == 200
    old = time.time() - 601
    os.utime(kept, (old, old))
    assert service.get(f"/download_file/{kept.name}").status_code == 404
    send(service)
    assert not kept.exists()


@pytest.mark.parametrize("suffix", DOCUMENT_EXTENSIONS)
def test_a_kept_file_of_any_format_is_found(folder: Path, suffix: str) -> None:
    files = TranslatedFiles(Settings(spool=folder.parent))
    assert files.find(files.put(b"a", suffix)) is not None


@pytest.mark.parametrize("name", ["x", "..%2F..%2Fetc%2Fpasswd", f"{'0' * 32}.txt", ".x.txt"])
def test_no_other_file_is_fetched(service: TestClient, name: str) -> None:
    send(service)
    assert service.get(f"/download_file/{name}").status_code == 404


def test_a_key_is_wanted_to_translate_and_the_address_is_the_key_to_the_file(
    remembering_dir: Path, folder: Path
) -> None:
    digest = hashlib.sha256(KEY.encode()).hexdigest()
    settings = Settings(index=remembering_dir, spool=folder.parent, api_keys=f"me:{digest}")
    with TestClient(create_app(settings)) as client:
        assert send(client).status_code == 403
        assert send(client, api_key="wrong").status_code == 403
        assert fetched(client, send(client, api_key=KEY)) == FILLED
        authorised = client.post(
            "/translate_file",
            data={"target": "de"},
            files={"file": ("x.txt", TEXTS)},
            headers={"Authorization": f"Bearer {KEY}"},
        )
        assert authorised.status_code == 200


def test_a_full_disk_is_named(service: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Starlette keeps a file of more than a megabyte on disk while it reads it, and keeps what was filled."""
    monkeypatch.setattr(limits, "MAX_FILE_BYTES", 4 << 20)
    with TestClient(create_app(service.app.state.settings)) as roomy, longest_file(1000):  # type: ignore[attr-defined]
        assert send(roomy, b"a" * (2 << 20)).status_code == 507
        assert send(roomy, TEXTS * 30).status_code == 507


@pytest.mark.parametrize(
    "content",
    [
        b'{"@n": ' + b"[" * 60 + b"0" + b",0" * 700 + b"]" * 60 + b', "a": "The dog sleeps."}',
        b'{"\\ud800": "The dog sleeps."}',
        b'{"@a": {"b": "\\ud800"}, "a": "The dog sleeps."}',
        b'{"n": 1e999, "a": "The dog sleeps."}',
        b'{"n": NaN, "a": "The dog sleeps."}',
        b'{"a": "The dog sleeps.", "a": "The cat runs."}',
        b"[" * 900,
    ],
    ids=["depth below @", "surrogate key", "surrogate below @", "1e999", "NaN", "repeated key", "depth"],
)
def test_json_is_filled_and_otherwise_as_it_was_or_refused(service: TestClient, content: bytes) -> None:
    answer = send(service, content, "x.json")
    if answer.status_code == 400:
        assert "x.json: not JSON" in answer.json()["error"]
    else:
        assert (
            fetched(service, answer)
            .replace(b"Der Vertrag gilt.", b"The dog sleeps.")
            .replace(b"Bitte warten!", b"The cat runs.")
            == content
        )
