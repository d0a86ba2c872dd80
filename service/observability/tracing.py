"""Traces for OpenTelemetry: a span for each request and each stage, sent to the setting `traces_url`.

FastAPI makes the spans of requests. It would include paths and queries, which contain texts in amaGama's
protocol, and log exceptions with their messages if the environment configures OpenTelemetry. So paths are
redacted, its logs and metrics stay off, and without the setting everything is off.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from fastapi.telemetry import TelemetryConfig
from opentelemetry.trace import get_current_span  # a dependency of FastAPI; the SDK is an extra

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import Span
    from opentelemetry.sdk.trace.export import SpanExporter

TELEMETRY_OFF: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
PRIVATE_ATTRIBUTES = ("url.path", "url.query", "http.request.method_original")
REDACTED = "REDACTED"
EXPORT_TIMEOUT = 2.0  # for a collector to accept spans, retries included


class Tracing:
    """Makes spans and exports them in the background with `exporter`."""

    def __init__(self, exporter: "SpanExporter") -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        class Redaction(SpanProcessor):
            """Removes attributes that may contain user data."""

            def on_start(self, span: "Span", parent_context: "Context | None" = None) -> None:
                attributes = span.attributes or {}
                span.set_attributes({name: REDACTED for name in PRIVATE_ATTRIBUTES if name in attributes})

        named = {"service.name": "passepartout", "service.version": version("passepartout")}
        self._provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
        self._provider.add_span_processor(Redaction())
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("passepartout")

    @classmethod
    def to(cls, url: str) -> "Tracing":
        """Export to an OTLP collector over HTTP, such as http://localhost:4318/v1/traces."""
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return cls(OTLPSpanExporter(endpoint=url, timeout=EXPORT_TIMEOUT))

    @property
    def telemetry(self) -> TelemetryConfig:
        """The telemetry configuration for FastAPI."""
        return {**TELEMETRY_OFF, "tracing": True, "tracer_provider": self._provider, "operation_spans": False}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Open a span of the current request; none outside a request, such as in a batch of several."""
        if not get_current_span().get_span_context().is_valid:
            yield
            return
        with self._tracer.start_as_current_span(name, record_exception=False):
            yield

    def close(self) -> None:
        """Send the remaining spans, as far as the collector accepts them."""
        self._provider.shutdown()
