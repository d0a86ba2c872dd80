"""Nothing of a user's text reaches a log line, and hostile text is answered or refused, quickly."""

import json
import time
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from starlette.testclient import TestClient

from tests.service.conftest import ClientFactory
from tests.service.server import serving, translate

SECRET = "xyzzy-secret"
FORGED = f'{SECRET}\r\n{{"level": "error", "message": "forged"}}\u2028\x1b[31m'
HOSTILE = {
    "a NUL": "A dog\0 runs.",
    "bidirectional marks": "\u202e\u2066A dog\u2069 runs.\u202c",
    "joined emoji": "👩\u200d👩\u200d👧\u200d👦" * 90,
    "combining marks": "e" + "\u0301" * 999,
    "one long word": "x" * 1000,
    "spaces of every kind": "A\u00a0dog\u2003runs\u3000.\ufeff",
    "every script": "Aあア漢한กБΩאبदাਅஅമ𐎠𓀀𝔸ꙮ" * 30,
    "private and unassigned": "\ue000\U000f0000\u0378 dog",
    "tags": "<script>alert(1)</script> dog ' OR 1=1 -- {0} %s ${HOME} ../../etc/passwd",
    "digits": "0123456789" * 100,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_answered_soon_and_with_numbers(make_client: ClientFactory, text: str) -> None:
    client = make_client(cache_bytes=0)
    request = {
        "text": text,
        "source": "en",
        "target": ["de", "ar"],
        "k": 3,
        "min_confidence": 0,
    }
    client.post("/translate/sentence", json=request)
    started = time.process_time()
    answer = client.post("/translate/sentence", json=request)
    assert time.process_time() - started < 0.5  # ten times what one of them gets: 50 ms
    assert answer.status_code == 200
    assert "NaN" not in answer.text
    (result,) = answer.json()["results"]
    assert result["text"] == text
    assert all(len(found) == 3 for found in result["translations"].values())


@pytest.mark.parametrize(
    "body",
    [
        b'{"text": "\xed\xa0\x80", "target": "de"}',
        b'{"text": "\\ud800", "target": "de"}',
        json.dumps({"text": "x" * 1_000_000, "target": "de"}).encode(),
        json.dumps({"text": [["x"] * 1000] * 100, "target": "de"}).encode(),
        b'{"text": ' + b"[" * 19_000 + b"]" * 19_000 + b"}",
        b'{"text": "x", "target": "de", "k": ' + b"9" * 100_000 + b"}",
    ],
    ids=[
        "a surrogate",
        "an escaped surrogate",
        "a megabyte",
        "nested lists",
        "deep nesting",
        "a long number",
    ],
)
def test_what_is_beyond_a_limit_is_refused_soon(client: TestClient, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    started = time.process_time()
    answer = client.post("/translate/sentence", content=body, headers=headers)
    assert time.process_time() - started < 0.5
    assert answer.status_code in (400, 413, 422)
    assert len(answer.content) < 10_000


@settings(max_examples=40)
@given(text=some.text(some.characters(categories=["Mn", "Cf", "Zs", "So", "Lo"]), min_size=1, max_size=200))
def test_marks_formats_and_symbols_of_any_kind(client: TestClient, text: str) -> None:
    request = {"text": text, "source": "en", "target": "de"}
    assert client.post("/translate/sentence", json=request).status_code in (200, 422)


def test_no_text_of_a_user_reaches_the_log_and_none_makes_a_line(
    index_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSEPARTOUT_LOG_FORMAT", "json")
    monkeypatch.setenv("PASSEPARTOUT_LOG_REQUESTS", "true")
    monkeypatch.setenv("PASSEPARTOUT_LOG_LEVEL", "debug")
    with serving(index_dir) as (address, process):
        translate(address)
        _send_everywhere(address)
        process.terminate()
        log = process.communicate(timeout=30)[1]
    assert SECRET not in log
    assert "forged" not in log
    lines = log.splitlines()
    assert len(lines) == log.count("\n")
    told = [json.loads(line) for line in lines]
    refused = [one for one in told if one["message"] == "request" and one["status"] != 200]
    assert len(refused) >= 5


def _send_everywhere(address: str) -> None:
    """FORGED in a body, a path, an option, a header that is kept and one that is not."""
    sentence = {"text": FORGED, "source": "en", "target": "de"}
    with httpx2.Client(base_url=address) as client:
        client.post("/translate/sentence", json=sentence)
        client.post("/translate/sentence", json=sentence | {"target": FORGED})
        client.post("/translate/sentence", json=sentence | {FORGED: 1})
        client.post("/translate/sentence", content=FORGED.encode())
        client.post("/translate", data={"q": FORGED, "source": FORGED, "target": "de", "api_key": FORGED})
        client.get("/tmserver/en/de/unit/" + quote(FORGED, safe=""), params={"source": FORGED})
        client.get("/" + SECRET)
        client.get("/problems/" + SECRET)
        client.get("/languages", headers={"X-Request-ID": SECRET + "\t x", "User-Agent": SECRET})
        client.request("BREW", "/languages", headers={"Authorization": "Bearer " + SECRET})
