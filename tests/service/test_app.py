"""The application as a whole: what its process imports, its life, and what a fault of its own shows."""

import subprocess
import sys
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from index.answers.translator import Translator
from service.app import create_app
from service.http.problems import MEDIA_TYPE, ProblemType
from service.settings import Settings

WITHOUT_TORCH = """
import sys
from pathlib import Path
from starlette.testclient import TestClient
from service.app import create_app
from service.settings import Settings

with TestClient(create_app(Settings(index=Path(sys.argv[1])))) as client:
    request = {"text": "A small dog runs on the beach.", "target": ["de", "ar"], "k": 3}
    assert client.post("/translate/sentence", json=request).status_code == 200
    assert client.post("/translate/word", json={"word": "dog", "target": "de"}).status_code == 200
    assert client.get("/").status_code == 200
    assert client.get("/openapi.json").status_code == 200
for heavy in ("torch", "transformers", "scipy", "training", "evaluation", "redis", "pandas"):
    assert heavy not in sys.modules, heavy
"""


def test_a_process_that_translates_has_no_torch(index_dir: Path) -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_TORCH, str(index_dir)], check=True, timeout=120)


def test_before_the_start_it_is_live_but_not_ready(translator: Translator) -> None:
    client = TestClient(create_app(Settings(), translator))
    assert client.get("/health/live").status_code == 200
    for path in ("/health/ready", "/languages"):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["type"]) == (503, ProblemType.NOT_READY.type)


def test_an_internal_error_reveals_nothing(
    translator: Translator, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*arguments: object, **more: object) -> None:
        raise RuntimeError("secret /etc/path")

    with TestClient(create_app(Settings(), translator)) as client:
        monkeypatch.setattr(translator, "answer", broken)
        request = {"text": "A dog.", "source": "en", "target": "de"}
        answer = client.post("/translate/sentence", json=request, headers={"X-Request-ID": "mine-1"})
    assert answer.status_code == 500
    assert answer.headers["content-type"] == MEDIA_TYPE
    assert answer.json() == {
        "type": "/problems/internal-error",
        "title": "Internal error",
        "status": 500,
        "detail": "The service failed; the log has the details.",
        "request_id": "mine-1",
    }
    (record,) = [record for record in caplog.records if record.getMessage() == "fault"]
    fields = vars(record)["fields"]
    assert (fields["error"], fields["request_id"]) == ("RuntimeError", "mine-1")
    assert "broken" in fields["at"][-1]
    assert "secret" not in str(vars(record))
