"""Metrics for Prometheus. Labels are routes, stages, statuses and languages, never user data.

With several workers, PROMETHEUS_MULTIPROC_DIR (set by `passepartout serve`) holds the counts of all of them.
"""

import ipaddress
import os
from contextlib import AbstractContextManager
from functools import cache
from typing import Literal, get_args

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from index.answers.request import Kind

# compute: the time until an answer that is not cached, which includes queue, tokenise, encode and search.
StageName = Literal["clean", "detect", "cache", "compute", "queue", "tokenise", "encode", "search"]
STAGES: tuple[StageName, ...] = get_args(StageName)
SECONDS_BUCKETS = (0.0001, 0.0003, 0.001, 0.002, 0.004, 0.008, 0.016, 0.03, 0.06, 0.125, 0.25, 0.5, 1.0, 4.0)
TEXTS_BUCKETS = tuple(float(2**power) for power in range(11))
COUNTS_BYTES = 1 << 20  # of each kind: all languages and routes have room
CONFIDENCE_BUCKETS = tuple(tenth / 10 for tenth in range(1, 11))


class Metrics:
    """The metrics of one application."""

    def __init__(self) -> None:
        _allocate()
        self._registry = CollectorRegistry()
        requests = self._histogram(
            "request_seconds", "Time to answer a request, by route and status.", "route", "status"
        )
        stages = self._histogram(
            "stage_seconds",
            "Time of each stage of answering; compute: all of queue (for a batch), tokenise, encode, search.",
            "stage",
        )
        self._batch = self._histogram("batch_texts", "Texts encoded at once.", buckets=TEXTS_BUCKETS)
        lookups = self._counter(
            "cache_lookups", "Lookups in the cache of answers, a text and target each, by result.", "result"
        )
        confidence = self._histogram(
            "confidence",
            "Confidence of the best answer to each text and target, before min_confidence.",
            "kind",
            buckets=CONFIDENCE_BUCKETS,
        )
        answers = self._counter(
            "answers",
            "Texts translated, by pair of languages, and whether anything is more likely right than not.",
            *("kind", "source", "target", "found"),
        )
        self._rejected = self._counter(
            "cache_rejected",
            "Values in Redis that this service did not write, or not with this key: each is a miss.",
        )
        # Looking a child up by its labels would take longer than counting.
        self._request_child, self._answers_child = cache(requests.labels), cache(answers.labels)
        self._stages = {stage: stages.labels(stage) for stage in STAGES}
        self._hits, self._misses = lookups.labels("hit"), lookups.labels("miss")
        self._confidences = {kind: confidence.labels(kind) for kind in get_args(Kind)}

    def _histogram(
        self, name: str, meaning: str, *labels: str, buckets: tuple[float, ...] = SECONDS_BUCKETS
    ) -> Histogram:
        return Histogram(f"passepartout_{name}", meaning, labels, buckets=buckets, registry=self._registry)

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(f"passepartout_{name}", meaning, labels, registry=self._registry)

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request that has been answered."""
        self._request_child(route, status).observe(seconds)

    def stage(self, stage: StageName) -> AbstractContextManager[object]:
        """Time the block as a stage."""
        return self._stages[stage].time()

    def spent(self, stage: StageName, seconds: float) -> None:
        """Record the time of a stage."""
        self._stages[stage].observe(seconds)

    def batch(self, texts: int) -> None:
        """Record how many texts are encoded at once."""
        self._batch.observe(texts)

    def cached(self, hits: int, misses: int) -> None:
        """Count lookups in the cache."""
        if hits:
            self._hits.inc(hits)
        if misses:
            self._misses.inc(misses)

    def rejected(self) -> None:
        """Count a value in Redis that is not valid."""
        self._rejected.inc()

    def answered(self, kind: Kind, source: str, target: str, best: float, found: bool) -> None:
        """Count a text translated into one target: its best confidence, and whether an answer was `found`."""
        self._confidences[kind].observe(best)
        self._answers_child(kind, source, target, "yes" if found else "no").inc()

    def text(self) -> bytes:
        """The counts of all workers in Prometheus's text format."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def _allocate() -> None:
    """Allocate this process's files of counts, since a full disk would end it by SIGBUS later."""
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    for kind in ("counter", "histogram") if folder else ():
        with open(f"{folder}/{kind}_{os.getpid()}.db", "ab") as file:
            os.posix_fallocate(file.fileno(), 0, COUNTS_BYTES)


def is_loopback(host: str) -> bool:
    """Whether a host is a loopback address; False if it is not an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
