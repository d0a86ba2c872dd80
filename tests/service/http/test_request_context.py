"""What every answer carries: an id, security headers; CORS where it is switched on; the log of requests."""

import logging
import re

import pytest
from starlette.testclient import TestClient

from tests.service.conftest import ClientFactory

REQUEST = {"text": "A small dog runs.", "source": "en", "target": "de"}
ORIGIN = "https://example.org"


@pytest.mark.parametrize(
    "path", ["/languages", "/nothing", "/translate/sentence", "/health", "/openapi.json"]
)
def test_every_answer_of_the_api_has_an_id_and_lets_a_browser_do_nothing(
    client: TestClient, path: str
) -> None:
    headers = client.get(path).headers
    assert re.fullmatch("[0-9a-f]{16}", headers["x-request-id"])
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    ("given", "kept"),
    [("a-B_9.", True), ("x" * 64, True), ("x" * 65, False), ("a b", False), ("", False), ("a;b", False)],
)
def test_the_id_of_the_client_is_kept_where_it_is_plain(client: TestClient, given: str, kept: bool) -> None:
    answer = client.get("/nothing", headers={"X-Request-ID": given})
    assert (answer.headers["x-request-id"] == given) == kept
    assert answer.json()["request_id"] == answer.headers["x-request-id"]


def test_other_origins_are_not_let_in_by_default(client: TestClient) -> None:
    for answer in (
        client.get("/languages", headers={"Origin": ORIGIN}),
        client.options(
            "/translate/sentence", headers={"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
        ),
    ):
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_origins_that_are_named_are_let_in(make_client: ClientFactory) -> None:
    client = make_client(cors_origins=f"{ORIGIN}, http://localhost:3000")
    asked = {
        "Origin": ORIGIN,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "Content-Type, X-API-Key",
    }
    answer = client.options("/translate/sentence", headers=asked)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, ORIGIN)
    assert "access-control-allow-credentials" not in answer.headers
    answer = client.post("/translate/sentence", json=REQUEST | {"k": 0}, headers={"Origin": ORIGIN})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (422, ORIGIN)
    other = client.get("/languages", headers={"Origin": "https://elsewhere.example"})
    assert "access-control-allow-origin" not in other.headers


def test_a_request_is_logged_by_its_route_where_that_is_switched_on(
    make_client: ClientFactory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="passepartout.requests")
    make_client().get("/download_file/secret")
    assert not caplog.records
    client = make_client(log_requests=True)
    client.get("/download_file/secret", headers={"X-Request-ID": "one"})
    client.get("/secret")
    first, second = (vars(record)["fields"] for record in caplog.records)
    assert first.pop("milliseconds") > 0
    assert first == {
        "request_id": "one",
        "method": "GET",
        "route": "/download_file/{name}",
        "status": 404,
    }
    assert (second["route"], second["status"]) == ("none", 404)
    assert "secret" not in str([vars(record) for record in caplog.records])
