"""Traces for OpenTelemetry: a span a request and one a stage, sent where the setting `traces_url` says.

FastAPI makes the spans of requests. It would put the path and the options of a request into them, which hold
texts in amaGama's protocol, and would log exceptions with their messages wherever the environment configures
OpenTelemetry: so paths are taken out, logs and metrics stay off, and without the setting all of it is off.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from fastapi.telemetry import TelemetryConfig
from opentelemetry.trace import get_current_span  # what FastAPI brings along; the rest is an extra

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import Span
    from opentelemetry.sdk.trace.export import SpanExporter

OFF: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
PRIVATE = ("url.path", "url.query", "http.request.method_original")
REDACTED = "REDACTED"
SECONDS = 2.0  # that a collector gets, tries in all


class Tracing:
    """Makes spans and sends them, in the background, with `exporter`."""

    def __init__(self, exporter: "SpanExporter") -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        class Redaction(SpanProcessor):
            """Takes out what may hold something of a user."""

            def on_start(self, span: "Span", parent_context: "Context | None" = None) -> None:
                attributes = span.attributes or {}
                span.set_attributes({name: REDACTED for name in PRIVATE if name in attributes})

        named = {"service.name": "passepartout", "service.version": version("passepartout")}
        self._provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
        self._provider.add_span_processor(Redaction())
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("passepartout")

    @classmethod
    def to(cls, url: str) -> "Tracing":
        """Sends to an OTLP collector over HTTP, such as http://localhost:4318/v1/traces."""
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return cls(OTLPSpanExporter(endpoint=url, timeout=SECONDS))

    @property
    def telemetry(self) -> TelemetryConfig:
        """What FastAPI is to do with it."""
        return {**OFF, "tracing": True, "tracer_provider": self._provider, "operation_spans": False}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """A span of the request that is being answered; none outside of one, as in a batch of several."""
        if not get_current_span().get_span_context().is_valid:
            yield
            return
        with self._tracer.start_as_current_span(name, record_exception=False):
            yield

    def close(self) -> None:
        """Send what is left, as far as the collector takes it."""
        self._provider.shutdown()
