"""How often a client may ask: by key, by address, over several workers, and while Redis fails."""

import hashlib
from typing import Any

import pytest
from starlette.testclient import TestClient

from index.errors import UsageError
from service.http.rates import client_of
from service.settings import load_settings
from tests.service.conftest import ClientFactory, RedisServer

KEYS = {name: f"{name}-{'x' * 20}" for name in ("one", "two")}
ENTRIES = ",".join(f"{name}:{hashlib.sha256(key.encode()).hexdigest()}" for name, key in KEYS.items())


def ask(client: TestClient, key: str | None = None) -> Any:  # noqa: ANN401
    headers = {} if key is None else {"X-API-Key": KEYS[key]}
    request = {"text": "A small dog runs.", "source": "en", "target": "de"}
    return client.post("/translate/sentence", json=request, headers=headers)


def test_a_client_over_the_limit_is_told_when_to_retry(make_client: ClientFactory) -> None:
    client = make_client(rate_limit="3/hour")
    assert [ask(client).status_code for _ in range(5)] == [200, 200, 200, 429, 429]
    answer = ask(client)
    assert answer.json()["type"] == "/problems/too-many-requests"
    assert 1 <= int(answer.headers["retry-after"]) <= 3600
    assert client.post("/translate", json={"q": "A dog.", "source": "en", "target": "de"}).status_code == 429
    assert client.get("/languages").status_code == 429
    for path in ("/health/ready", "/"):
        assert client.get(path).status_code == 200


def test_each_key_is_counted_separately(make_client: ClientFactory) -> None:
    client = make_client(rate_limit="2/hour", api_keys=ENTRIES)
    assert [ask(client, "one").status_code for _ in range(3)] == [200, 200, 429]
    assert ask(client, "two").status_code == 200
    assert [ask(client).status_code for _ in range(3)] == [401, 401, 429]


def test_a_key_in_the_body_is_counted_after_the_address(make_client: ClientFactory) -> None:
    """The body is read only for an address that may ask."""
    client = make_client(rate_limit="2/hour", api_keys=ENTRIES)

    def translate(key: str) -> Any:  # noqa: ANN401
        body = {"q": "A small dog runs.", "source": "en", "target": "de", "api_key": key}
        return client.post("/translate", json=body)

    assert ask(client, "one").status_code == 200
    assert translate(KEYS["one"]).status_code == 200
    assert ask(client, "one").status_code == 429  # both count for the key
    refused = translate(KEYS["one"])
    assert (refused.status_code, list(refused.json())) == (429, ["error"])
    assert int(refused.headers["retry-after"]) >= 1
    assert translate(KEYS["two"]).status_code == 429  # the third of this address
    assert ask(client, "two").status_code == 200


@pytest.mark.parametrize(
    ("path", "content_type", "body"),
    [
        ("/translate", "application/json", b"{"),
        ("/translate", "multipart/form-data; charset=punycode; boundary=x", b"--x"),
        ("/translate_file", "multipart/form-data; boundary=x", b"nonsense"),
        ("/translate_file", "text/plain", b""),
        ("/detect", "text/plain", b"A dog."),
        ("/translate/sentence", "application/json", b"{"),
        ("/nothing", "text/plain", b""),
        ("/admin/jobs", "application/json", b"{}"),
    ],
)
def test_what_is_refused_counts_for_its_address(
    make_client: ClientFactory, path: str, content_type: str, body: bytes
) -> None:
    for keys in (None, ENTRIES):
        client = make_client(rate_limit="3/hour", api_keys=keys)
        sent = {"content": body, "headers": {"Content-Type": content_type}}
        statuses = [client.post(path, **sent).status_code for _ in range(5)]  # type: ignore[arg-type]
        assert all(400 <= status < 500 and status != 429 for status in statuses[:3])
        assert statuses[3:] == [429, 429]


@pytest.mark.parametrize("q", ["A dog.", 5])
@pytest.mark.parametrize("path", ["/translate", "/detect"])
def test_wrong_keys_in_the_body_count_for_their_address(
    make_client: ClientFactory, path: str, q: str | int
) -> None:
    client = make_client(rate_limit="2/hour", api_keys=ENTRIES)
    body = {"q": q, "source": "en", "target": "de", "api_key": "wrong"}
    assert [client.post(path, json=body).status_code for _ in range(3)] == [403, 403, 429]
    assert ask(client, "one").status_code == 200


def test_workers_with_redis_count_together(
    make_client: ClientFactory, redis_server: RedisServer, patience: None
) -> None:
    clients = [
        make_client(rate_limit="3/hour", redis_url=redis_server.url, api_keys=ENTRIES) for _ in range(2)
    ]
    statuses = [ask(clients[number % 2], "one").status_code for number in range(5)]
    assert statuses == [200, 200, 200, 429, 429]


def test_while_redis_fails_each_worker_counts_alone(
    make_client: ClientFactory, redis_server: RedisServer
) -> None:
    client = make_client(rate_limit="2/hour", redis_url=redis_server.url)
    redis_server.kill()
    assert [ask(client).status_code for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize("limit", ["many", "0/second", "5", "5/fortnight", "5 per minute; 1/second"])
def test_an_invalid_limit_prevents_the_start(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setenv("PASSEPARTOUT_RATE_LIMIT", limit)
    with pytest.raises(UsageError, match="600/minute"):
        load_settings()


@pytest.mark.parametrize(
    ("scope", "client"),
    [
        ({"client": ("192.0.2.7", 5)}, "host 192.0.2.7"),
        ({"client": ("2001:db8:1:2:3:4:5:6", 5)}, "network 2001:db8:1:2::/64"),
        ({"client": ("::ffff:192.0.2.7", 5)}, "host ::ffff:192.0.2.7"),
        ({"client": None}, "host "),
        ({"client": ("192.0.2.7", 5), "state": {"key": "one"}}, "key one"),
    ],
)
def test_the_client_that_a_request_counts_for(scope: dict[str, Any], client: str) -> None:
    assert client_of(scope) == client
