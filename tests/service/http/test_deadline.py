"""A deadline acts once, at its time, unless it was stopped."""

import asyncio
from collections.abc import Awaitable, Callable

from service.http.deadline import Deadline

SHORT, LONG = 0.02, 30.0


def running(steps: Callable[[asyncio.AbstractEventLoop, list[str]], Awaitable[None]]) -> list[str]:
    acts: list[str] = []

    async def main() -> None:
        await steps(asyncio.get_running_loop(), acts)

    asyncio.run(main())
    return acts


def test_it_acts_once_and_can_be_started_again() -> None:
    async def steps(loop: asyncio.AbstractEventLoop, acts: list[str]) -> None:
        deadline = Deadline(loop, SHORT, lambda: acts.append("due"))
        for _ in range(2):
            deadline.start()
            await asyncio.sleep(4 * SHORT)

    assert running(steps) == ["due", "due"]


def test_stopped_or_ended_it_does_not_act() -> None:
    async def steps(loop: asyncio.AbstractEventLoop, acts: list[str]) -> None:
        stopped, ended = (Deadline(loop, SHORT, lambda: acts.append("due")) for _ in range(2))
        stopped.start()
        stopped.stop()
        ended.start()
        ended.end()
        await asyncio.sleep(4 * SHORT)

    assert running(steps) == []


def test_started_anew_it_waits_its_whole_time() -> None:
    async def steps(loop: asyncio.AbstractEventLoop, acts: list[str]) -> None:
        deadline = Deadline(loop, 10 * SHORT, lambda: acts.append("due"))
        deadline.start()
        await asyncio.sleep(5 * SHORT)
        deadline.stop()
        began = loop.time()
        deadline.start()
        while not acts:
            await asyncio.sleep(SHORT / 4)
        assert loop.time() - began >= 9 * SHORT

    assert running(steps) == ["due"]


def test_it_can_be_put_off_and_brought_forward() -> None:
    async def steps(loop: asyncio.AbstractEventLoop, acts: list[str]) -> None:
        later = Deadline(loop, SHORT, lambda: acts.append("later"))
        later.start()
        later.put_off(LONG)
        sooner = Deadline(loop, LONG, lambda: acts.append("sooner"))
        sooner.start()
        sooner.put_off(SHORT)
        await asyncio.sleep(4 * SHORT)
        later.end()

    assert running(steps) == ["sooner"]
