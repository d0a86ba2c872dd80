"""API keys: which routes want one, where it may be, and that only hashes are kept."""

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from index.answers.translator import Translator
from index.errors import UsageError
from service.app import create_app
from service.http import keys
from service.http.access import is_open
from service.http.keys import Keys
from service.http.page import PAGE_FILES
from service.settings import Settings, load_settings
from tests.service.conftest import ClientFactory, every_route

KEY = "correct horse"
ENTRIES = ", ".join(
    f"{name}:{hashlib.sha256(key.encode()).hexdigest()}" for name, key in (("other", "x"), ("mine", KEY))
)
SENTENCE = {"text": "A small dog runs.", "source": "en", "target": "de"}
THEIRS = {"q": "A small dog runs.", "source": "en", "target": "de"}
# Every route, and whether it answers without a key: a new one must be entered here.
ROUTES = {
    "POST /translate/sentence": False,
    "POST /translate/word": False,
    "GET /languages": True,
    "GET /health/live": True,
    "GET /health/ready": True,
    "GET /problems/{name}": True,
    "POST /translate": False,
    "POST /detect": False,
    "POST /translate_file": False,
    "GET /download_file/{name}": True,
    "GET /concordance": False,
    "GET /teach/pictures": False,
    "GET /health": True,
    "GET /metrics": False,
    "POST /admin/uploads": False,
    "GET /admin/versions": False,
    "POST /admin/jobs": False,
    "GET /admin/jobs": False,
    "GET /admin/jobs/{job_id}": False,
    "POST /admin/jobs/{job_id}/cancel": False,
    "GET /phrases": False,
    "POST /board": False,
    "GET /openapi.json": True,
} | {f"GET {path}": True for path in PAGE_FILES}
BODIES = {
    "/translate/sentence": SENTENCE,
    "/translate/word": {"word": "dog", "source": "en", "target": "de"},
    "/translate": THEIRS,
    "/detect": {"q": "A dog."},
}
SENT: dict[str, dict[str, str]] = {
    "none": {},
    "bad": {"Authorization": "Bearer wrong"},
    "bearer": {"Authorization": f"bearer {KEY}"},
    "header": {"X-API-Key": KEY},
}


@pytest.fixture(scope="module")
def locked(translator: Translator) -> Iterator[TestClient]:
    settings = Settings(api_keys=ENTRIES, metrics="everyone")  # type: ignore[arg-type]
    with TestClient(create_app(settings, translator)) as client:
        yield client


def test_the_table_names_every_route() -> None:
    routes = {f"{method} {route.path}" for route in every_route() for method in route.methods - {"HEAD"}}
    assert routes | {"GET /openapi.json"} == set(ROUTES)


# Without the form, a file of that name, or a word to look for.
ANSWERED = {
    "/translate_file": 400,
    "/download_file/{name}": 404,
    "/concordance": 422,
    "/phrases": 422,
    "/board": 422,
}


@pytest.mark.parametrize("route", ROUTES)
def test_every_route_with_every_key(locked: TestClient, route: str) -> None:
    method, path = route.split()
    filled = re.sub(r"{[^}]*}", "en", path).replace("/problems/en", "/problems/not-found")
    refused = 403 if path in ("/translate", "/translate_file", "/detect") else 401
    for sent, headers in SENT.items():
        answer = locked.request(method, filled, json=BODIES.get(path), headers=headers)
        let_in = ROUTES[route] or (sent in ("bearer", "header") and not path.startswith("/admin/"))
        assert answer.status_code == (ANSWERED.get(path, 200) if let_in else refused), sent
        assert ("www-authenticate" in answer.headers) == (not let_in)


ADMIN_KEY = "battery staple"
ADMINS = f"boss:{hashlib.sha256(ADMIN_KEY.encode()).hexdigest()}"


@pytest.mark.parametrize("entries", [None, ENTRIES])
@pytest.mark.parametrize("path", ["/admin/jobs", "/admin", "/admin/nothing"])
def test_what_is_for_admins_takes_their_keys_alone(
    make_client: ClientFactory, entries: str | None, path: str
) -> None:
    client = make_client(api_keys=entries, admin_keys=ADMINS)
    for headers in SENT.values():
        assert client.post(path, headers=headers).status_code == 401
    assert client.post(path, headers={"X-API-Key": ADMIN_KEY}).status_code != 401


def test_without_keys_for_admins_nobody_is_one(make_client: ClientFactory) -> None:
    for client in (make_client(), make_client(api_keys=ENTRIES)):
        for headers in (*SENT.values(), {"X-API-Key": ADMIN_KEY}, {"X-API-Key": ""}):
            assert client.post("/admin/jobs", headers=headers).status_code == 401


def test_an_admins_key_is_let_in_elsewhere_too(make_client: ClientFactory) -> None:
    client = make_client(api_keys=ENTRIES, admin_keys=ADMINS)
    answer = client.post("/translate/sentence", json=SENTENCE, headers={"X-API-Key": ADMIN_KEY})
    assert answer.status_code == 200


def test_a_path_that_is_nothing_needs_a_key_too(locked: TestClient) -> None:
    assert locked.get("/nothing").status_code == 401
    assert not is_open("/metrics")


@pytest.mark.parametrize("form", ["json", "data"])
def test_libretranslates_clients_send_it_in_the_body(locked: TestClient, form: str) -> None:
    def status(path: str, fields: dict[str, Any]) -> int:
        return locked.post(path, **{form: fields}).status_code  # type: ignore[arg-type]

    assert status("/translate", THEIRS | {"api_key": KEY}) == 200
    assert status("/translate", THEIRS | {"api_key": "wrong"}) == 403
    assert status("/translate", THEIRS | {"api_key": ""}) == 403
    assert status("/detect", {"q": "A dog.", "api_key": KEY}) == 200
    half = json.dumps(THEIRS | {"api_key": "\ud800"})  # of a character
    headers = {"Content-Type": "application/json"}
    assert locked.post("/translate", content=half, headers=headers).status_code == 403


def test_without_keys_everyone_is_let_in(client: TestClient) -> None:
    assert client.post("/translate/sentence", json=SENTENCE, headers=SENT["bad"]).status_code == 200
    assert client.post("/translate", json=THEIRS | {"api_key": "any"}).status_code == 200


@pytest.mark.parametrize("path", ["/translate_file", "/translate", "/translate/sentence", "/admin/jobs"])
def test_pages_of_other_sites_send_nothing(make_client: ClientFactory, path: str) -> None:
    """A browser says so itself; it would send a form without asking."""
    client = make_client()
    foreign = {"Sec-Fetch-Site": "cross-site", "Origin": "https://elsewhere.example"}
    assert client.post(path, data={"q": "a"}, headers=foreign).status_code == 403
    assert client.post(path, data={"q": "a"}, headers={"Sec-Fetch-Site": "same-origin"}).status_code != 403
    welcome = make_client(cors_origins="https://elsewhere.example")
    assert welcome.post("/translate", json=THEIRS, headers=foreign).status_code == 200


def test_a_key_that_is_made_is_let_in(make_client: ClientFactory) -> None:
    lines = CliRunner().invoke(keys.main, ["a-client"]).output.splitlines()
    key, entry = (line.split()[-1] for line in lines)
    assert Keys.parse(entry).name_of(key) == "a-client"
    assert key not in entry
    client = make_client(api_keys=entry)
    assert client.post("/translate/sentence", json=SENTENCE, headers={"X-API-Key": key}).status_code == 200
    assert CliRunner().invoke(keys.main, ["A Client"]).exit_code == 2


@pytest.mark.parametrize("entries", ["secret", "a:b", "A:" + "0" * 64, f"a:{'0' * 64},a:{'1' * 64}", ","])
def test_entries_that_are_none_stop_the_start_and_are_not_repeated(
    monkeypatch: pytest.MonkeyPatch, entries: str
) -> None:
    monkeypatch.setenv("PASSEPARTOUT_API_KEYS", entries)
    with pytest.raises(UsageError, match=r"service\.http\.keys") as error:
        load_settings()
    assert "secret" not in str(error.value)
    assert ENTRIES not in repr(Settings(api_keys=ENTRIES))  # type: ignore[arg-type]
