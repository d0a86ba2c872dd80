"""What the service counts, for Prometheus. Labels are routes, stages, statuses, languages: nothing of a user.

With several workers, PROMETHEUS_MULTIPROC_DIR (set by `passepartout serve`) holds the counts of all.
"""

import asyncio
import ipaddress
import os
import time
from bisect import bisect_left
from collections import Counter as Counts
from collections import deque
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Literal, get_args

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from service.api.schemas import Kind
from service.observability.tracing import Tracing

# compute: what a request waits for an answer that is not cached, in the queue, tokenise, encode and search.
Stage = Literal["detect", "cache", "compute", "queue", "tokenise", "encode", "search", "explain"]
STAGES: tuple[Stage, ...] = get_args(Stage)
SECONDS = (0.0001, 0.0003, 0.001, 0.002, 0.004, 0.008, 0.016, 0.03, 0.06, 0.125, 0.25, 0.5, 1.0, 4.0)
TEXTS = tuple(float(2**power) for power in range(11))
SHARES = tuple(tenth / 10 for tenth in range(1, 11))


TOGETHER = 128  # requests that are told to prometheus_client at once
LATEST = 0.1  # seconds until what was counted is told: other workers may be asked for it
PATIENCE = 0.4  # seconds that a reader of several workers' counts waits: by then all have told them


class Tally:
    """What a histogram is to observe, told to it together.

    prometheus_client takes locks and a dozen calls for each observation: for those of a request as long as to
    read it.
    """

    __slots__ = ("_histogram", "_seen", "observe")

    def __init__(self, histogram: Histogram) -> None:
        self._histogram = histogram
        self._seen: deque[float] = deque()
        self.observe = self._seen.append  # by any thread

    def tell(self) -> None:
        values = [self._seen.popleft() for _ in range(len(self._seen))]
        # A value counts in the first bucket with a bound not below it.
        found = Counts(bisect_left(self._histogram._upper_bounds, value) for value in values)
        for number, count in found.items():
            self._histogram._buckets[number].inc(count)
        if values:
            self._histogram._sum.inc(sum(values))


class Timed:
    """Times what happens inside, for a histogram; where there are traces, as a span too."""

    __slots__ = ("_span", "_started", "_tally")

    def __init__(self, tally: Tally, span: AbstractContextManager[None] | None) -> None:
        self._tally, self._span = tally, span

    def __enter__(self) -> None:
        self._started = time.perf_counter()
        if self._span is not None:
            self._span.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._span is not None:
            self._span.__exit__(kind, error, trace)
        self._tally.observe(time.perf_counter() - self._started)


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
        self._stages = {stage: Tally(stages.labels(stage)) for stage in STAGES}
        batch = Histogram(
            "passepartout_batch_texts", "Texts encoded at once.", buckets=TEXTS, registry=self._registry
        )
        self._batch = Tally(batch)
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
        self._confidences = {kind: Tally(confidence.labels(kind)) for kind in get_args(Kind)}
        self._by_route: dict[tuple[str, int], Tally] = {}
        self._tallies = [*self._stages.values(), self._batch, *self._confidences.values()]
        # The event loop's alone, as what is counted here is.
        self._by_pair: Counts[tuple[str, str, str, str]] = Counts()
        self._looked_up = [0, 0]
        self._untold = 0
        self._timer: asyncio.TimerHandle | None = None

    def request(self, route: str, status: int, seconds: float) -> None:
        """One request is answered; the event loop says so."""
        tally = self._by_route.get((route, status)) or self._route(route, status)
        tally.observe(seconds)
        self._untold += 1
        if self._untold >= TOGETHER:
            self.tell()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LATEST, self._tell_latest)

    def stage(self, stage: Stage) -> Timed:
        """Time what happens inside."""
        return Timed(self._stages[stage], self._tracing.stage(stage) if self._tracing else None)

    def spent(self, stage: Stage, seconds: float) -> None:
        self._stages[stage].observe(seconds)

    def batch(self, texts: int) -> None:
        self._batch.observe(texts)

    def cached(self, hits: int, misses: int) -> None:
        self._looked_up[0] += hits
        self._looked_up[1] += misses

    def answered(self, kind: Kind, source: str, target: str, best: float, found: bool) -> None:
        """One text in one target: the confidence of its best answer, and whether any is likely enough."""
        self._confidences[kind].observe(best)
        self._by_pair[kind, source, target, "yes" if found else "no"] += 1

    def tell(self) -> None:
        """Tell prometheus_client what was counted; the event loop does."""
        self._untold = 0
        for tally in self._tallies:
            tally.tell()
        for labels, count in self._by_pair.items():
            self._answers.labels(*labels).inc(count)
        self._by_pair.clear()
        self._hits.inc(self._looked_up[0])
        self._misses.inc(self._looked_up[1])
        self._looked_up = [0, 0]

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.tell()

    async def text(self) -> bytes:
        """Everything that was answered before the call, by all workers, in Prometheus's text format."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            self.tell()
            return generate_latest(self._registry)
        await asyncio.sleep(PATIENCE)
        self.tell()
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)

    def _route(self, route: str, status: int) -> Tally:
        tally = self._by_route[route, status] = Tally(self._requests.labels(route, str(status)))
        self._tallies.append(tally)
        return tally

    def _tell_latest(self) -> None:
        self._timer = None
        self.tell()


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own; False for what is no address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
