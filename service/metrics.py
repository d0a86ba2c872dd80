"""What the service counts, for Prometheus. Labels are routes, stages, statuses, languages: nothing of a user.

With several workers, PROMETHEUS_MULTIPROC_DIR (set by `passepartout serve`) holds the counts of all.
"""

import ipaddress
import os
import time
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Literal, get_args

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from service.schemas import Kind
from service.tracing import Tracing

# compute: what a request waits for an answer that is not cached, in the queue, tokenise, encode and search.
Stage = Literal["detect", "cache", "compute", "queue", "tokenise", "encode", "search", "explain"]
STAGES: tuple[Stage, ...] = get_args(Stage)
SECONDS = (0.0001, 0.0003, 0.001, 0.002, 0.004, 0.008, 0.016, 0.03, 0.06, 0.125, 0.25, 0.5, 1.0, 4.0)
TEXTS = tuple(float(2**power) for power in range(11))
SHARES = tuple(tenth / 10 for tenth in range(1, 11))


class Timed:
    """Times what happens inside, for a histogram; where there are traces, as a span too."""

    __slots__ = ("_histogram", "_span", "_started")

    def __init__(self, histogram: Histogram, span: AbstractContextManager[None] | None) -> None:
        self._histogram, self._span = histogram, span

    def __enter__(self) -> None:
        self._started = time.perf_counter()
        if self._span is not None:
            self._span.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._span is not None:
            self._span.__exit__(kind, error, trace)
        self._histogram.observe(time.perf_counter() - self._started)


class Metrics:
    """The counts of one application; where there are traces, its stages are told to them, too."""

    def __init__(self, tracing: Tracing | None = None) -> None:
        self._tracing = tracing
        self._registry = CollectorRegistry()
        self._requests = Histogram(
            "passepartout_request_seconds",
            "Time to answer a request, by route and status.",
            ["route", "status"],
            buckets=SECONDS,
            registry=self._registry,
        )
        stages = Histogram(
            "passepartout_stage_seconds",
            "Time of each stage of answering; compute: all of queue (for a batch), tokenise, encode, search.",
            ["stage"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._stages = {stage: stages.labels(stage) for stage in STAGES}
        self._batch = Histogram(
            "passepartout_batch_texts", "Texts encoded at once.", buckets=TEXTS, registry=self._registry
        )
        lookups = Counter(
            "passepartout_cache_lookups",
            "Lookups in the cache of answers, a text and target each, by result.",
            ["result"],
            registry=self._registry,
        )
        self._hits, self._misses = lookups.labels("hit"), lookups.labels("miss")
        confidence = Histogram(
            "passepartout_confidence",
            "Confidence of the best answer to each text and target, before min_confidence.",
            ["kind"],
            buckets=SHARES,
            registry=self._registry,
        )
        self._answers = Counter(
            "passepartout_answers",
            "Texts translated, by pair of languages, and whether anything was likely enough.",
            ["kind", "source", "target", "found"],
            registry=self._registry,
        )
        # prometheus_client looks labels up under a lock, which costs more than to count.
        self._confidences = {kind: confidence.labels(kind) for kind in get_args(Kind)}
        self._by_route: dict[tuple[str, int], Histogram] = {}
        self._by_pair: dict[tuple[str, ...], Counter] = {}

    def request(self, route: str, status: int, seconds: float) -> None:
        key = (route, status)
        child = self._by_route.get(key) or self._by_route.setdefault(
            key, self._requests.labels(route, str(status))
        )
        child.observe(seconds)

    def stage(self, stage: Stage) -> Timed:
        """Time what happens inside."""
        return Timed(self._stages[stage], self._tracing.stage(stage) if self._tracing else None)

    def spent(self, stage: Stage, seconds: float) -> None:
        self._stages[stage].observe(seconds)

    def batch(self, texts: int) -> None:
        self._batch.observe(texts)

    def cached(self, hits: int, misses: int) -> None:
        self._hits.inc(hits)
        self._misses.inc(misses)

    def answered(self, kind: Kind, source: str, target: str, best: float, found: bool) -> None:
        """One text in one target: the confidence of its best answer, and whether any is likely enough."""
        self._confidences[kind].observe(best)
        key = (kind, source, target, "yes" if found else "no")
        child = self._by_pair.get(key) or self._by_pair.setdefault(key, self._answers.labels(*key))
        child.inc()

    def text(self) -> bytes:
        """Everything, in Prometheus's text format."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own; False for what is no address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
