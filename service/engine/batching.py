"""Dynamic batching: what requests ask at about the same time is computed together, off the event loop.

While every thread is busy, work waits and so becomes the next batch; a thread that is free takes what there
is, or waits a while for more where that is set. The queue is bounded, requests get a quantum of each batch in
turn, so that a long one does not hold up the short ones, work that another request asked for already is
shared (single flight), and what nobody waits for any more is dropped before it is begun.

All state is the event loop's: threads see the items and give back results, nothing else.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from service.observability.metrics import Metrics

# Computes a list of items; items with the same function share a call.
Run = Callable[[Sequence[Any]], Sequence[Any]]
Outcome = Sequence[Any] | BaseException


class QueueFullError(Exception):
    """The work would make the queue longer than it may be."""


@dataclass(frozen=True)
class Bounds:
    """`batch` items computed at once, `wait` seconds for a batch to fill, `queue` items waiting."""

    batch: int = 64
    wait: float = 0.0
    queue: int = 16_384
    quantum: int = 16  # items that one request gets into a batch before it is another's turn


class Waiter:
    """What one request waits for: its future is done when no item is pending."""

    __slots__ = ("done", "pending")

    def __init__(self, pending: int, done: "asyncio.Future[None]") -> None:
        self.pending, self.done = pending, done


class WorkItem:
    """One item to compute, and those who wait for it."""

    __slots__ = ("item", "key", "queued_at", "result", "run", "waiters")

    def __init__(self, run: Run, key: Hashable, item: object, queued_at: float) -> None:
        self.run, self.key, self.item, self.queued_at = run, key, item, queued_at
        self.waiters: list[Waiter] = []
        self.result: Any = None

    @property
    def wanted(self) -> bool:
        return any(not waiter.done.done() for waiter in self.waiters)


class Batcher:
    """Computes in `threads` threads."""

    def __init__(self, threads: int, bounds: Bounds, metrics: Metrics) -> None:
        self._bounds, self._metrics = bounds, metrics
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="compute")
        self._idle_threads = threads
        self._queue: deque[deque[WorkItem]] = deque()  # one entry a request
        self._queued = 0  # items in the queue
        self._in_flight: dict[Hashable, WorkItem] = {}  # queued or being computed, by key
        self._dispatch_timer: asyncio.Handle | None = None

    @property
    def queued(self) -> int:
        """Items in the queue."""
        return self._queued

    async def compute(self, run: Run, items: Mapping[Hashable, object]) -> list[Any]:
        """The results of `run` for each item, in their order; items of one key have one result.

        Raises QueueFullError at once, and whatever `run` raises. Cancelled, it leaves the work to others.
        """
        loop = asyncio.get_running_loop()
        waiter = Waiter(len(items), loop.create_future())
        work = self._enqueue(run, items, waiter, loop)
        if work:
            await waiter.done
        return [item.result for item in work]

    def close(self) -> None:
        """Wait for what is being computed."""
        self._pool.shutdown(cancel_futures=True)

    def _enqueue(
        self, run: Run, items: Mapping[Hashable, object], waiter: Waiter, loop: asyncio.AbstractEventLoop
    ) -> list[WorkItem]:
        new_keys = [key for key in items if key not in self._in_flight]
        # An empty queue takes any one request: its size has limits of its own.
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
            self._schedule(loop)
        return requested

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        """Dispatch in the loop's next turn, or after the wait where the batch is not full."""
        full = self._queued >= self._bounds.batch
        if not self._idle_threads or (self._dispatch_timer is not None and not full):
            return
        if self._dispatch_timer is not None:
            self._dispatch_timer.cancel()
        if self._bounds.wait and not full:
            self._dispatch_timer = loop.call_later(self._bounds.wait, self._dispatch, loop)
        else:
            self._dispatch_timer = loop.call_soon(self._dispatch, loop)

    def _dispatch(self, loop: asyncio.AbstractEventLoop, seen: int = 0) -> None:
        """Once a turn of the loop has brought nothing new: what comes at the same time is one batch."""
        if seen < self._queued < self._bounds.batch:
            self._dispatch_timer = loop.call_soon(self._dispatch, loop, self._queued)
            return
        self._dispatch_timer = None
        while self._idle_threads and (batch := self._next_batch()):
            self._idle_threads -= 1
            self._pool.submit(self._compute, loop, batch)

    def _next_batch(self) -> list[WorkItem]:
        """A quantum of each request, in the order they came."""
        batch: list[WorkItem] = []
        while self._queue and len(batch) < self._bounds.batch:
            request = self._queue.popleft()
            for _ in range(min(len(request), self._bounds.quantum, self._bounds.batch - len(batch))):
                self._queued -= 1
                work = request.popleft()
                if work.wanted:
                    batch.append(work)
                else:
                    del self._in_flight[work.key]
            if request:
                self._queue.append(request)
        return batch

    def _compute(self, loop: asyncio.AbstractEventLoop, batch: Sequence[WorkItem]) -> None:
        """In a thread."""
        self._metrics.spent("queue", time.perf_counter() - batch[0].queued_at)
        outcomes = [(work, _attempt(work)) for work in _by_run(batch)]
        loop.call_soon_threadsafe(self._deliver, outcomes, loop)

    def _deliver(
        self, outcomes: Sequence[tuple[Sequence[WorkItem], Outcome]], loop: asyncio.AbstractEventLoop
    ) -> None:
        self._idle_threads += 1
        for group, outcome in outcomes:
            for position, work in enumerate(group):
                del self._in_flight[work.key]
                if isinstance(outcome, BaseException):
                    _fail(work.waiters, outcome)
                else:
                    work.result = outcome[position]
                    _complete(work.waiters)
        if self._queue:
            self._schedule(loop)


def _by_run(batch: Sequence[WorkItem]) -> Iterable[list[WorkItem]]:
    groups: dict[Run, list[WorkItem]] = {}
    for work in batch:
        groups.setdefault(work.run, []).append(work)
    return groups.values()


def _attempt(work: Sequence[WorkItem]) -> Outcome:
    try:
        return work[0].run([item.item for item in work])
    except Exception as error:  # raised where each of them is awaited
        return error


def _complete(waiters: Iterable[Waiter]) -> None:
    for waiter in waiters:
        waiter.pending -= 1
        if not waiter.pending and not waiter.done.done():
            waiter.done.set_result(None)


def _fail(waiters: Iterable[Waiter], error: BaseException) -> None:
    for waiter in waiters:
        if not waiter.done.done():
            waiter.done.set_exception(error)
