"""Nothing of a user's text reaches a log line, and hostile text is answered or refused, quickly."""

import json
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from tests.service.server import serving, translate

SECRET = "xyzzy-secret"
FORGED = f'{SECRET}\r\n{{"level": "error", "message": "forged"}}\u2028\x1b[31m'


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
        client.get("/download_file/" + quote(FORGED, safe=""), params={"source": FORGED})
        client.get("/" + SECRET)
        client.get("/problems/" + SECRET)
        client.get("/languages", headers={"X-Request-ID": SECRET + "\t x", "User-Agent": SECRET})
        client.request("BREW", "/languages", headers={"Authorization": "Bearer " + SECRET})
