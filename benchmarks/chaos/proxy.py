"""A TCP proxy that makes a network bad: late, narrow, or cut in the middle."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass

CHUNK = 1024  # bytes passed on at a time


@dataclass
class Network:
    """What the network is like; may be changed while it is used."""

    delay: float = 0.0  # seconds that every chunk is late, in each direction
    rate: float = float("inf")  # bytes a second of each connection and direction
    cut_after: float = float("inf")  # bytes after which a connection is reset


async def _pass_on(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    network: Network,
    ends: tuple[asyncio.StreamWriter, ...],
) -> None:
    passed = 0
    with contextlib.suppress(OSError):
        while chunk := await reader.read(CHUNK):
            await asyncio.sleep(network.delay + len(chunk) / network.rate)
            passed += len(chunk)
            if passed > network.cut_after:
                for end in ends:
                    end.transport.abort()
                return
            writer.write(chunk)
            await writer.drain()
        writer.write_eof()


async def _serve(target: int, network: Network, ports: list[int], ready: threading.Event) -> None:
    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection("127.0.0.1", target)
        except OSError:
            writer.transport.abort()
            return
        ends = (writer, back)
        await asyncio.gather(_pass_on(reader, back, network, ends), _pass_on(there, writer, network, ends))
        for end in ends:
            end.close()

    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    ports.append(server.sockets[0].getsockname()[1])
    ready.set()
    with contextlib.suppress(asyncio.CancelledError):
        await server.serve_forever()


@contextlib.contextmanager
def proxy(target: int, network: Network) -> Iterator[int]:
    """The port of a proxy to `target` on this machine, in a thread of its own."""
    ports: list[int] = []
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    task = loop.create_task(_serve(target, network, ports, ready))
    thread = threading.Thread(target=_until_done, args=(loop, task), daemon=True)
    thread.start()
    ready.wait(10)
    try:
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(10)


def _until_done(loop: asyncio.AbstractEventLoop, task: "asyncio.Task[None]") -> None:
    loop.run_until_complete(task)
    for left in asyncio.all_tasks(loop):
        left.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
