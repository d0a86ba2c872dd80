"""Traces as a collector gets them: spans of requests and their stages, and nothing of a user."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.testclient import TestClient

from index.answers.translator import Translator
from index.errors import UsageError
from service.app import create_app
from service.settings import Settings, load_settings

SECRET = "xyzzysecret"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


class Collector(BaseHTTPRequestHandler):
    """An OTLP collector that keeps what it gets."""

    got: list[bytes]

    def do_POST(self) -> None:
        self.got.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def collecting() -> Iterator[tuple[str, list[bytes]]]:
    got: list[bytes] = []
    server = HTTPServer(("127.0.0.1", 0), type("Own", (Collector,), {"got": got}))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/traces", got
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("status", [200, 422])
def test_a_request_is_a_span_with_its_stages_and_without_its_text(
    translator: Translator, status: int
) -> None:
    request = {"text": SECRET, "source": "en", "target": "de", "k": 1 if status == 200 else 0}
    with collecting() as (url, got):
        with TestClient(create_app(Settings(traces_url=url), translator)) as client:
            parent = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
            answer = client.post(f"/translate/sentence?{SECRET}=1", json=request, headers=parent)
            client.get(f"/tmserver/en/de/unit/{SECRET}")
        assert answer.status_code == status
    assert SECRET.encode() not in b"".join(got)
    sent = [ExportTraceServiceRequest.FromString(one) for one in got]
    spans = [
        span
        for one in sent
        for part in one.resource_spans
        for scope in part.scope_spans
        for span in scope.spans
    ]
    (whole,) = [span for span in spans if span.name == "POST /translate/sentence"]
    told = {one.key: one.value for one in whole.attributes}
    assert whole.trace_id.hex() == TRACE
    assert told["http.response.status_code"].int_value == status
    assert told["url.path"].string_value == "REDACTED"
    stages = {span.name for span in spans if span.parent_span_id == whole.span_id}
    assert stages == ({"cache", "compute"} if status == 200 else set())


def test_a_collector_that_is_gone_does_not_matter(translator: Translator) -> None:
    with TestClient(create_app(Settings(traces_url="http://127.0.0.1:1/v1/traces"), translator)) as client:
        request = {"text": "A dog.", "source": "en", "target": "de"}
        assert client.post("/translate/sentence", json=request).status_code == 200


def test_without_the_setting_nothing_is_traced_whatever_the_environment_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = (
        "import sys; from service.app import create_app; from service.settings import Settings\n"
        "app = create_app(Settings()); assert not app._native_telemetry.enabled()\n"
        "assert 'opentelemetry.sdk' not in sys.modules"
    )
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_invalid_address_is_refused_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    for address in ("localhost:4318", "file:///etc/passwd", "http://user:secret@host/"):
        monkeypatch.setenv("PASSEPARTOUT_TRACES_URL", address)
        with pytest.raises(UsageError, match="TRACES_URL"):
            load_settings()
