"""Connections: how many are accepted at a time, and what is left of one that has ended."""

import asyncio
import gc
import json
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from weakref import WeakSet

import pytest
import uvloop
from uvicorn import Config

from index.search.translator import Translator
from service.app import create_app
from service.http.protocol import LimitedProtocol
from service.http.server import EARS, DrainingServer
from service.settings import Settings

BODY = json.dumps({"text": "A small dog runs.", "source": "en", "target": "de"}).encode()
HEAD = "POST {} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
TRANSLATE = HEAD.format("/translate/sentence", len(BODY)).encode() + BODY
LIVE = b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
ADMITTED = 2
PATIENCE = 1  # seconds


@asynccontextmanager
async def served(translator: Translator, **settings: float) -> AsyncIterator[DrainingServer]:
    """A server in the loop of the test, which therefore does nothing while the test does something."""
    config = Config(
        create_app(Settings(max_waiting=ADMITTED, **settings), translator),
        port=0,
        http=LimitedProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        timeout_keep_alive=PATIENCE,
    )
    server = DrainingServer(config, EARS)
    task = asyncio.create_task(server.serve())
    try:
        await turns_until(lambda: server.started)
        yield server
    finally:
        server.should_exit = True
        await task


async def turns_until(so: Callable[[], bool]) -> int:
    """The turns of the loop until something is so."""
    async with asyncio.timeout(20):
        count = 0
        while not so():
            await asyncio.sleep(0)
            count += 1
    return count


def connected(server: DrainingServer, stack: ExitStack, count: int, sent: bytes = b"") -> None:
    place = server.servers[0].sockets[0].getsockname()
    for _ in range(count):
        connection = stack.enter_context(socket.create_connection(place))
        connection.sendall(sent)


def test_connections_that_come_together_are_accepted_together(translator: Translator) -> None:
    """One at a turn would have them wait for all that older connections ask meanwhile."""

    async def main() -> None:
        async with served(translator) as server:
            with ExitStack() as stack:
                connected(server, stack, EARS)
                assert await turns_until(lambda: len(server.server_state.connections) == EARS) < EARS / 4

    uvloop.run(main())


@pytest.mark.parametrize(
    "sent",
    [b"", TRANSLATE, TRANSLATE[:60], TRANSLATE[:-1], LIVE, LIVE + TRANSLATE, b"nonsense\r\n\r\n"],
    ids=["nothing", "translation", "half a head", "half a body", "life", "two", "nonsense"],
)
def test_a_connection_that_has_ended_is_no_work_for_the_collector(
    translator: Translator, sent: bytes
) -> None:
    """Five thousand held the loop for a tenth of a second when their turn came; refused ones, too."""

    async def main() -> None:
        async with served(translator) as server:
            connections = server.server_state.connections
            with ExitStack() as stack:
                connected(server, stack, 4 * ADMITTED, sent)
                await turns_until(lambda: len(connections) == 4 * ADMITTED)
                seen = WeakSet(connections)
                await asyncio.sleep(0.05)  # answers, some of them
            await turns_until(lambda: not connections and not server.server_state.tasks)
            await turns_until(lambda: not seen)

    gc.disable()
    try:
        uvloop.run(main())
    finally:
        gc.enable()


@pytest.mark.parametrize("before", [0, 1], ids=["the first request", "the next"])
def test_who_sends_while_the_time_runs_out_is_answered(translator: Translator, before: int) -> None:
    """What has come is read before a busy server looks at the clock: it was told 408, or reset."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with served(translator, request_seconds=PATIENCE) as server:
            place = server.servers[0].sockets[0].getsockname()
            reader, writer = await asyncio.open_connection(*place)
            await turns_until(lambda: len(server.server_state.connections) == 1)
            for _ in range(before):
                writer.write(TRANSLATE)
                assert await status(reader) == 200
            # Both are due when the loop is free again: the request is there when the time is over.
            loop.call_later(PATIENCE - 0.3, time.sleep, 0.5)
            loop.call_later(PATIENCE - 0.1, writer.write, TRANSLATE)
            assert await status(reader) == 200
            writer.write(TRANSLATE[:-1])  # patience still has an end
            assert await status(reader) == 408
            writer.close()

    uvloop.run(main())


async def status(reader: asyncio.StreamReader) -> int:
    """Of the answer that comes next, which is read."""
    async with asyncio.timeout(20):
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        await reader.readexactly(int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0]))
    return int(head.split()[1])
