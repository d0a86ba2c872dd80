"""The batcher: what is computed together, what is refused, shared, dropped and taken in turns."""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Hashable, Sequence

import pytest

from service.engine.batching import BATCH_SECONDS, Batcher, Bounds, QueueFullError
from service.observability.metrics import Metrics
from tests.waiting import tasks_begun, until_in_loop

pytestmark = pytest.mark.anyio


class Gate:
    """A computation that doubles numbers, holds while closed, and notes its batches."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()
        self.batches: list[list[int]] = []

    def double(self, numbers: Sequence[int]) -> list[int]:
        self.batches.append(list(numbers))
        assert self.open.wait(10)
        return [2 * number for number in numbers]

    def negate(self, numbers: Sequence[int]) -> list[int]:
        return [-number for number in numbers]


def items(*numbers: int) -> dict[Hashable, object]:
    return {number: number for number in numbers}


@contextlib.asynccontextmanager
async def running(bounds: Bounds | None = None) -> AsyncIterator[tuple[Batcher, Gate]]:
    batcher, gate = Batcher(1, bounds or Bounds(), Metrics()), Gate()
    try:
        async with asyncio.timeout(10):
            yield batcher, gate
    finally:
        gate.open.set()
        batcher.close()
    assert batcher._queued == 0


async def closed(batcher: Batcher, gate: Gate) -> "asyncio.Task[list[int]]":
    """A request that keeps the thread busy until the gate opens."""
    gate.open.clear()
    before = len(gate.batches)
    task = asyncio.create_task(batcher.compute(gate.double, items(0)))
    await until_in_loop(lambda: len(gate.batches) > before, "the gate is not reached")
    return task


async def test_results_come_in_the_order_of_the_items() -> None:
    async with running() as (batcher, gate):
        assert await batcher.compute(gate.double, items(3, 1, 2)) == [6, 2, 4]
        assert await batcher.compute(gate.double, {}) == []


async def test_simultaneous_items_and_those_that_come_while_busy_form_a_batch() -> None:
    async with running() as (batcher, gate):
        await asyncio.gather(*(batcher.compute(gate.double, items(number)) for number in range(5)))
        assert gate.batches == [[0, 1, 2, 3, 4]]
        first = await closed(batcher, gate)
        rest = [asyncio.create_task(batcher.compute(gate.double, items(number))) for number in (7, 8, 9)]
        await tasks_begun()
        gate.open.set()
        assert await asyncio.gather(first, *rest) == [[0], [14], [16], [18]]
        assert gate.batches[1:] == [[0], [7, 8, 9]]


async def test_a_batch_is_bounded_and_requests_take_turns() -> None:
    async with running(Bounds(batch=4, quantum=2)) as (batcher, gate):
        first = await closed(batcher, gate)
        long = asyncio.create_task(batcher.compute(gate.double, items(*range(1, 10))))
        short = asyncio.create_task(batcher.compute(gate.double, items(20)))
        await tasks_begun()
        gate.open.set()
        await asyncio.gather(first, long, short)
        assert gate.batches[1:] == [[1, 2, 20], [3, 4], [5, 6], [7, 8], [9]]
        assert long.result() == [2 * number for number in range(1, 10)]


async def test_slow_work_is_done_in_small_batches_so_that_others_wait_little() -> None:
    def slow(numbers: Sequence[int]) -> list[int]:
        time.sleep(0.02 * len(numbers))
        return list(numbers)

    async with running(Bounds(batch=16, quantum=16)) as (batcher, _):
        long = asyncio.create_task(batcher.compute(slow, items(*range(160))))
        await asyncio.sleep(0.4)  # the first batch, of 16, is done
        for number in (1000, 1001, 1002):
            begun = time.monotonic()
            await batcher.compute(slow, items(number))
            assert time.monotonic() - begun < 4 * BATCH_SECONDS
        long.cancel()
        assert batcher._size < 16
        await batcher.compute(lambda numbers: numbers, items(2000))
        for first in (3000, 4000, 5000):
            await batcher.compute(lambda numbers: numbers, items(*range(first, first + 32)))
        assert batcher._size == 16


async def test_a_full_queue_refuses_and_recovers() -> None:
    async with running(Bounds(queue=5)) as (batcher, gate):
        first = await closed(batcher, gate)
        big = asyncio.create_task(
            batcher.compute(gate.double, items(*range(1, 9)))
        )  # alone, it may be longer
        await tasks_begun()
        with pytest.raises(QueueFullError):
            await batcher.compute(gate.double, items(100))
        gate.open.set()
        await asyncio.gather(first, big)
        assert await batcher.compute(gate.double, items(100)) == [200]


async def test_work_requested_twice_is_done_once() -> None:
    async with running() as (batcher, gate):
        first = await closed(batcher, gate)
        same = [asyncio.create_task(batcher.compute(gate.double, items(0, 1))) for _ in range(50)]
        await tasks_begun()
        gate.open.set()
        assert await first == [0]
        assert await asyncio.gather(*same) == [[0, 2]] * 50
        assert gate.batches == [[0], [1]]


async def test_work_behind_many_requests_that_have_left_is_done() -> None:
    async with running(Bounds(batch=4, quantum=2)) as (batcher, gate):
        first = await closed(batcher, gate)
        leaving = asyncio.create_task(batcher.compute(gate.double, items(*range(1, 10))))
        staying = asyncio.create_task(batcher.compute(gate.double, items(20)))
        await tasks_begun()
        leaving.cancel()
        await tasks_begun()
        gate.open.set()
        assert await asyncio.gather(first, staying) == [[0], [40]]
        assert gate.batches == [[0], [20]]


async def test_a_request_that_leaves_cancels_only_its_own_work() -> None:
    async with running() as (batcher, gate):
        first = await closed(batcher, gate)
        leaving = asyncio.create_task(batcher.compute(gate.double, items(0, 1, 2)))
        staying = asyncio.create_task(batcher.compute(gate.double, items(2, 3)))
        await tasks_begun()
        leaving.cancel()
        first.cancel()  # what it asked for is being computed already
        await tasks_begun()
        gate.open.set()
        assert await staying == [4, 6]
        assert gate.batches == [[0], [2, 3]]
        with pytest.raises(asyncio.CancelledError):
            await leaving


async def test_a_failure_reaches_only_the_requests_concerned() -> None:
    def fail(numbers: Sequence[int]) -> list[int]:
        raise OSError("no")

    async with running() as (batcher, gate):
        first = await closed(batcher, gate)
        failing = asyncio.create_task(batcher.compute(fail, {"a": 1, "b": 2}))
        other = asyncio.create_task(batcher.compute(gate.negate, {"c": 1}))
        await tasks_begun()
        gate.open.set()
        assert await first == [0]
        assert await other == [-1]
        with pytest.raises(OSError, match="no"):
            await failing
        assert await batcher.compute(gate.double, {"a": 1}) == [2]
