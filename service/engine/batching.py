"""Dynamic batching: items that requests submit at about the same time are computed together, in threads.

While all threads are busy, work accumulates into the next batch; a free thread takes what is there. The queue
is bounded. Requests take turns, with a quantum of each batch, and batches after a slow one are smaller, so
that a long request does not delay short ones. Items that another request has already submitted are shared
(single flight), and items that nobody waits for any more are dropped before they are computed.

All state belongs to the event loop: threads receive items and return results, nothing else.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from service.observability.metrics import Metrics

BATCH_SECONDS = 0.25  # that a batch should take, since whoever asks meanwhile waits for its end
# Computes a list of items. Items with the same function are computed by one call.
Compute = Callable[[Sequence[Any]], Sequence[Any]]
BatchOutcome = Sequence[Any] | BaseException


class QueueFullError(Exception):
    """The queue has no room for the work."""


@dataclass(frozen=True)
class Bounds:
    """`batch` items computed at once, `queue` items waiting."""

    batch: int = 64
    queue: int = 16_384
    quantum: int = 16  # items of one request in a batch


@dataclass(eq=False, slots=True)
class Waiter:
    """A waiting request: its future is done when none of its items is pending."""

    pending: int
    done: "asyncio.Future[None]"


@dataclass(eq=False, slots=True)
class WorkItem:
    """An item to compute, and the requests that wait for it."""

    run: Compute
    key: Hashable
    item: object
    queued_at: float
    waiters: list[Waiter] = field(default_factory=list)
    result: Any = None

    @property
    def wanted(self) -> bool:
        return any(not waiter.done.done() for waiter in self.waiters)


class Batcher:
    """Computes items in batches in `threads` threads."""

    def __init__(self, threads: int, bounds: Bounds, metrics: Metrics) -> None:
        self._bounds, self._metrics = bounds, metrics
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="compute")
        self._idle_threads = threads
        self._size = bounds.batch  # of the next batch, at most
        self._queue: deque[deque[WorkItem]] = deque()  # one entry for each request
        self._queued = 0  # items in the queue
        self._in_flight: dict[Hashable, WorkItem] = {}  # queued or being computed, by key
        self._scheduled = False  # whether a dispatch is

    async def compute(self, run: Compute, items: Mapping[Hashable, object]) -> list[Any]:
        """Compute the results of `run` for items, in their order; items with the same key share a result.

        Raises QueueFullError immediately, and whatever `run` raises. If this call is cancelled, items that
        other requests wait for are still computed.
        """
        waiter = Waiter(len(items), asyncio.get_running_loop().create_future())
        work = self._enqueue(run, items, waiter)
        if work:
            await waiter.done
        return [item.result for item in work]

    def close(self) -> None:
        """Wait until the running batches are finished."""
        self._pool.shutdown(cancel_futures=True)

    def _enqueue(self, run: Compute, items: Mapping[Hashable, object], waiter: Waiter) -> list[WorkItem]:
        new_keys = [key for key in items if key not in self._in_flight]
        # An empty queue accepts any request, whose size is limited elsewhere.
        if self._queued and self._queued + len(new_keys) > self._bounds.queue:
            raise QueueFullError
        now = time.perf_counter()
        new_work = deque(WorkItem(run, key, items[key], now) for key in new_keys)
        for work in new_work:
            self._in_flight[work.key] = work
        requested = [self._in_flight[key] for key in items]
        for work in requested:
            work.waiters.append(waiter)
        if new_work:
            self._queue.append(new_work)
            self._queued += len(new_work)
            self._schedule()
        return requested

    def _schedule(self) -> None:
        """Dispatch in the next iteration of the loop."""
        if self._idle_threads and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._dispatch)

    def _dispatch(self, seen: int = 0) -> None:
        """Start batches once an iteration of the loop adds nothing, so that simultaneous items share one."""
        loop = asyncio.get_running_loop()
        if seen < self._queued < self._bounds.batch:
            loop.call_soon(self._dispatch, self._queued)
            return
        self._scheduled = False
        while self._idle_threads and (batch := self._next_batch()):
            self._idle_threads -= 1
            self._pool.submit(self._compute, loop, batch)

    def _next_batch(self) -> list[WorkItem]:
        """Take a quantum of each request in turn, in the order in which they arrived."""
        batch: list[WorkItem] = []
        for _ in range(len(self._queue)):
            request, most = self._queue.popleft(), min(len(batch) + self._bounds.quantum, self._size)
            while request and len(batch) < most:
                self._queued -= 1
                work = request.popleft()
                if work.wanted:
                    batch.append(work)
                else:
                    del self._in_flight[work.key]
            if request:
                self._queue.append(request)
            if len(batch) == self._size:
                break
        return batch

    def _compute(self, loop: asyncio.AbstractEventLoop, batch: Sequence[WorkItem]) -> None:
        """Compute a batch, in a thread."""
        begun = time.perf_counter()
        self._metrics.spent("queue", begun - batch[0].queued_at)
        groups: dict[Compute, list[WorkItem]] = {}
        for work in batch:
            groups.setdefault(work.run, []).append(work)
        outcomes = [(group, _attempt(group)) for group in groups.values()]
        fitting = int(len(batch) * BATCH_SECONDS / (time.perf_counter() - begun))  # such items in a batch
        loop.call_soon_threadsafe(self._deliver, outcomes, fitting)

    def _deliver(self, outcomes: Sequence[tuple[Sequence[WorkItem], BatchOutcome]], fitting: int) -> None:
        self._idle_threads += 1
        self._size = max(1, min(self._bounds.batch, 2 * self._size, fitting))
        for group, outcome in outcomes:
            for position, work in enumerate(group):
                del self._in_flight[work.key]
                error = outcome if isinstance(outcome, BaseException) else None
                work.result = None if isinstance(outcome, BaseException) else outcome[position]
                _settle(work, error)
        if self._queue:
            self._schedule()


def _attempt(work: Sequence[WorkItem]) -> BatchOutcome:
    try:
        return work[0].run([item.item for item in work])
    except Exception as error:  # raised wherever an item is awaited
        return error


def _settle(work: WorkItem, error: BaseException | None) -> None:
    """Tell the requests that wait for an item that it is done, or why it cannot be."""
    for waiter in work.waiters:
        waiter.pending -= 1
        if error is not None and not waiter.done.done():
            waiter.done.set_exception(error)
        elif not waiter.pending and not waiter.done.done():
            waiter.done.set_result(None)
