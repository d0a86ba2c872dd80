"""Dynamic batching: what requests ask at about the same time is computed together, off the event loop.

While every thread is busy, work waits and so becomes the next batch; a thread that is free takes what there
is as soon as hardly more comes in, or after `wait` seconds where more is hoped for. Where there is enough for
two batches, and a processor for each, half is computed while the loop answers the other half. The queue is
bounded, requests take turns in it, so that a long one does not hold up the short ones, work that another
request asked for already is shared (single flight), and what nobody waits for any more is dropped before it
is begun.

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

CALM = 3  # turns of the event loop with hardly any new work: those who were just answered have asked again
HARDLY = 8  # to how many that wait one may come in a turn
HALF = 6  # items that are worth a batch of their own while others are answered

# Computes a list of items; works with the same function share a call. It may leave what is short, and needs
# Python's lock all the time, to a function that the event loop calls.
Run = Callable[[Sequence[Any]], Sequence[Any] | Callable[[], Sequence[Any]]]
Outcome = Sequence[Any] | Callable[[], Sequence[Any]] | BaseException


class QueueFullError(Exception):
    """The work would make the queue longer than it may be."""


@dataclass(frozen=True)
class Bounds:
    """`batch` items computed at once, `wait` seconds for a batch to fill, `queue` items waiting."""

    batch: int = 64
    wait: float = 0.0
    queue: int = 16_384
    turn: int = 16  # items that one request gets into a batch before it is another's turn
    overlap: bool = False  # whether to compute a batch while another is answered


class Order:
    """What one request waits for: its future is done when nothing is left."""

    __slots__ = ("done", "left")

    def __init__(self, left: int, done: "asyncio.Future[None]") -> None:
        self.left, self.done = left, done


class Work:
    """One item to compute, and the orders that wait for it."""

    __slots__ = ("item", "key", "orders", "result", "run", "since")

    def __init__(self, run: Run, key: Hashable, item: object, since: float) -> None:
        self.run, self.key, self.item, self.since = run, key, item, since
        self.orders: list[Order] = []
        self.result: Any = None

    @property
    def wanted(self) -> bool:
        return any(not order.done.done() for order in self.orders)


class Waits:
    """Ends waits that have taken too long, with one timer: one for each would cost as much as to read it."""

    def __init__(self) -> None:
        self._waits: deque[tuple[float, asyncio.Future[None]]] = deque()  # the first is due first
        self._timer: asyncio.TimerHandle | None = None

    def add(self, done: "asyncio.Future[None]", seconds: float, loop: asyncio.AbstractEventLoop) -> None:
        """TimeoutError for who waits for `done` when it is not within `seconds`."""
        while self._waits and self._waits[0][1].done():
            self._waits.popleft()
        due = loop.time() + seconds
        self._waits.append((due, done))
        if self._timer is None:
            self._timer = loop.call_at(due, self._ring, loop)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _ring(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        while self._waits and (self._waits[0][1].done() or self._waits[0][0] <= loop.time()):
            done = self._waits.popleft()[1]
            if not done.done():
                done.set_exception(TimeoutError())
        if self._waits:
            self._timer = loop.call_at(self._waits[0][0], self._ring, loop)


class Batcher:
    """Computes in `threads` threads."""

    def __init__(self, threads: int, bounds: Bounds, metrics: Metrics) -> None:
        self._bounds, self._metrics = bounds, metrics
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="compute")
        self._idle = threads
        self._queue: deque[deque[Work]] = deque()  # one entry a request
        self._waiting = self._last = 0  # items in the queue, in the last batch
        self._flying: dict[Hashable, Work] = {}  # waiting or being computed, by key
        self._timer: asyncio.Handle | None = None
        self._waits = Waits()

    @property
    def waiting(self) -> int:
        """Items in the queue."""
        return self._waiting

    async def compute(
        self, run: Run, items: Mapping[Hashable, object], patience: float | None = None
    ) -> list[Any]:
        """The results of `run` for each item, in their order; items of one key have one result.

        Raises QueueFullError at once, TimeoutError after `patience` seconds, which are the same for all, and
        whatever `run` raises. Cancelled, it leaves the work to others.
        """
        loop = asyncio.get_running_loop()
        order = Order(len(items), loop.create_future())
        works = self._enter(run, items, order, loop)
        if order.left:
            if patience is not None:
                self._waits.add(order.done, patience, loop)
            await order.done
        return [work.result for work in works]

    def close(self) -> None:
        """Wait for what is being computed."""
        self._waits.end()
        self._pool.shutdown(cancel_futures=True)

    def _enter(
        self, run: Run, items: Mapping[Hashable, object], order: Order, loop: asyncio.AbstractEventLoop
    ) -> list[Work]:
        fresh = [key for key in items if key not in self._flying]
        # An empty queue takes any one request: its size has limits of its own.
        if self._waiting and self._waiting + len(fresh) > self._bounds.queue:
            raise QueueFullError
        now = time.perf_counter()
        added = deque([Work(run, key, items[key], now) for key in fresh])
        for work in added:
            self._flying[work.key] = work
        works = [self._flying[key] for key in items]
        for work in works:
            work.orders.append(order)
        if added:
            self._queue.append(added)
            self._waiting += len(added)
            self._schedule(loop, CALM - 1)
        return works

    def _schedule(self, loop: asyncio.AbstractEventLoop, calm: int) -> None:
        """Dispatch when hardly more comes in, which it has not for `calm` turns, or after the wait."""
        if not self._idle:
            return
        full = self._waiting >= self._most()
        if self._timer is not None and full and self._bounds.wait:
            self._timer.cancel()
            self._timer = None
        if self._timer is not None:
            return
        if self._bounds.wait and not full:
            self._timer = loop.call_later(self._bounds.wait, self._dispatch, loop)
        else:
            self._timer = loop.call_soon(self._look, loop, self._waiting, calm)

    def _look(self, loop: asyncio.AbstractEventLoop, before: int, calm: int) -> None:
        """Once a turn of the loop: dispatch, or see in the next whether many more than now are waiting."""
        calm = calm + 1 if self._waiting - before <= before // HARDLY else 0
        if calm >= CALM or self._waiting >= self._most():
            self._dispatch(loop)
        else:
            self._timer = loop.call_soon(self._look, loop, self._waiting, calm)

    def _dispatch(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        while self._idle and (batch := self._take()):
            self._idle -= 1
            self._pool.submit(self._compute, loop, batch)

    def _most(self) -> int:
        """Items in the next batch: of those that wait and those just answered, who will ask again, half."""
        half = (self._waiting + self._last + 1) // 2
        return min(self._bounds.batch, half) if self._bounds.overlap and half >= HALF else self._bounds.batch

    def _take(self) -> list[Work]:
        """The next batch: a turn of each request, in the order they came."""
        batch: list[Work] = []
        most = self._most()
        while self._queue and len(batch) < most:
            request = self._queue.popleft()
            for _ in range(min(len(request), self._bounds.turn, most - len(batch))):
                self._waiting -= 1
                work = request.popleft()
                if work.wanted:
                    batch.append(work)
                else:
                    del self._flying[work.key]
            if request:
                self._queue.append(request)
        self._last = len(batch)
        return batch

    def _compute(self, loop: asyncio.AbstractEventLoop, batch: Sequence[Work]) -> None:
        """In a thread."""
        now = time.perf_counter()
        self._metrics.spent("queue", now - batch[0].since)
        outcomes = [(works, _attempt(works)) for works in _by_run(batch)]
        loop.call_soon_threadsafe(self._deliver, outcomes, loop)

    def _deliver(
        self, outcomes: Sequence[tuple[Sequence[Work], Outcome]], loop: asyncio.AbstractEventLoop
    ) -> None:
        self._idle += 1
        if self._bounds.overlap and self._waiting >= HALF and self._timer is None:
            self._dispatch(loop)
        for works, computed in outcomes:
            outcome = _finished(computed)
            for place, work in enumerate(works):
                del self._flying[work.key]
                if isinstance(outcome, BaseException):
                    _fail(work.orders, outcome)
                else:
                    work.result = outcome[place]
                    _complete(work.orders)
        if self._queue:  # a thread that computes a few while others are answered makes both slower
            self._schedule(loop, 0)


def _by_run(batch: Sequence[Work]) -> Iterable[list[Work]]:
    groups: dict[Run, list[Work]] = {}
    for work in batch:
        groups.setdefault(work.run, []).append(work)
    return groups.values()


def _attempt(works: Sequence[Work]) -> Outcome:
    try:
        return works[0].run([work.item for work in works])
    except Exception as error:  # it is raised where each of them is awaited
        return error


def _finished(outcome: Outcome) -> Sequence[Any] | BaseException:
    """In the event loop."""
    if not callable(outcome):
        return outcome
    try:
        return outcome()
    except Exception as error:
        return error


def _complete(orders: Iterable[Order]) -> None:
    for order in orders:
        order.left -= 1
        if not order.left and not order.done.done():
            order.done.set_result(None)


def _fail(orders: Iterable[Order], error: BaseException) -> None:
    for order in orders:
        if not order.done.done():
            order.done.set_exception(error)
