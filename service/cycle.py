"""One request and its answer, of which head and body leave together: a system call less for each of us and
for the client."""

from asyncio import Transport
from typing import TYPE_CHECKING, Any, cast

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent


class Joined:
    """A transport that keeps the first thing written until the second."""

    __slots__ = ("_first", "_transport")

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._first: bytes | None = b""

    def write(self, data: bytes) -> None:
        if self._first is None:
            self._transport.write(data)
        elif self._first:
            self._transport.write(self._first + data)
            self._first = None
        else:
            self._first = data

    def flush(self) -> None:
        """Write what is kept, and keep nothing any more."""
        if self._first:
            self._transport.write(self._first)
        self._first = None

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever a transport has)
        return getattr(self._transport, name)


class Cycle(RequestResponseCycle):
    """What uvicorn makes for a request becomes one of these before it runs."""

    @classmethod
    def of(cls, cycle: RequestResponseCycle) -> "Cycle":
        cycle.__class__ = cls
        cycle.transport = cast(Transport, Joined(cycle.transport))
        return cast(Cycle, cycle)

    async def send(self, message: "ASGISendEvent") -> None:
        transport, begins = cast(Joined, self.transport), not self.response_started
        if not begins and self.scope["method"] == "HEAD":  # no body follows
            transport.flush()
        await super().send(message)
        if begins and self.chunked_encoding:  # its parts come when they are there
            transport.flush()
