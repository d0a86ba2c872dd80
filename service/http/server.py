"""uvicorn's server and supervisor: they stop without losing what was sent, and workers reload on SIGHUP."""

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import cast

from uvicorn import Config, Server
from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.supervisors import multiprocess

from index.build.parents import when_parent_ends
from service.http.sockets import something_waits, take_no_more

# Of a server alone. With one, new connections wait while those that were there keep the loop busy. Of several
# workers, one with many ears would take all the connections of a client that opens some at once.
EARS = 32
SETTLE = 0.01  # seconds in which connections that the system has taken for us are accepted; then we look
PATIENCE = 2.0  # seconds after which a socket is closed though connections still wait at it


class DrainingServer(Server):
    """Accepts what waits at its sockets before it closes them: a close would reset those connections."""

    def __init__(self, config: Config, ears: int = 1) -> None:
        """`ears`: connections that are accepted before what came over others is read, at least."""
        super().__init__(config)
        self._ears = ears

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for file in [own.fileno() for server in self.servers for own in server.sockets]:
            self.servers += [await self._listening(file) for _ in range(self._ears - 1)]

    async def _listening(self, file: int) -> asyncio.Server:
        """Another server at the same socket: the loop accepts one connection for each when it looks."""
        protocol = partial(
            cast(type[HttpToolsProtocol], self.config.http_protocol_class),
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        own = socket.socket(fileno=os.dup(file))
        return await asyncio.get_running_loop().create_server(protocol, sock=own, backlog=self.config.backlog)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if not self.force_exit:
            listening = [own.fileno() for server in self.servers for own in server.sockets]
            take_no_more(listening)
            await _until_none_waits(listening)
        await super().shutdown(sockets)


class Worker(multiprocess.Process):
    """A process with a server; it stops when its supervisor has died: else it would keep the port."""

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        when_parent_ends(lambda: os.kill(os.getpid(), signal.SIGTERM))
        super().target(sockets)

    @property
    def server(self) -> Server:
        if self._server is None:
            self._server = DrainingServer(config=self.config)
        return self._server


class Supervisor(multiprocess.Multiprocess):
    """Starts the workers, replaces those that die, and stops them."""

    def handle_hup(self) -> None:
        """Workers reload the index by themselves; uvicorn would replace them."""
        for process in self.processes:
            if process.pid is not None and process.exitcode is None:
                os.kill(process.pid, signal.SIGHUP)

    def terminate_all(self) -> None:
        # The workers' sockets are ours too: as long as one is open, the system takes connections for it.
        take_no_more(own.fileno() for own in self.sockets)
        super().terminate_all()
        for own in self.sockets:
            own.close()


def run(config: Config) -> None:
    """Serve until SIGTERM or SIGINT, in this process or in `config.workers` of them."""
    if config.workers == 1:
        server = DrainingServer(config, EARS)
        with suppress(KeyboardInterrupt):
            server.run()
        if not server.started:
            sys.exit(STARTUP_FAILURE)
        return
    multiprocess.Process = Worker  # type: ignore[misc]  # what the supervisor starts
    Supervisor(config, sockets=[config.bind_socket()]).run()


async def _until_none_waits(files: Sequence[int]) -> None:
    deadline = time.monotonic() + PATIENCE
    while something_waits(files) and time.monotonic() < deadline:
        await asyncio.sleep(SETTLE)
