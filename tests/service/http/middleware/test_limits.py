"""Requests at a time, and the time of an answer, by the middleware alone."""

import asyncio
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.middleware.concurrency_limit import ConcurrencyLimit
from service.http.middleware.time_limit import TimeLimit
from tests.waiting import tasks_begun


async def asked(app: Any, path: str = "/translate/sentence") -> tuple[int, dict[bytes, bytes]]:  # noqa: ANN401
    """Status and headers of the answer to a request without a body."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await app({"type": "http", "path": path, "headers": [], "state": {}}, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"])


class Held:
    """An application that answers once it is released."""

    def __init__(self) -> None:
        self.released = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.released.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def reading(app: ASGIApp) -> ASGIApp:
    """The application, once the body has been read."""

    async def read_first(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await app(scope, receive, send)

    return read_first


def test_requests_beyond_the_limit_are_refused_until_there_is_room() -> None:
    async def main() -> None:
        held = Held()
        app = ConcurrencyLimit(reading(held), 2)
        first = [asyncio.create_task(asked(app)) for _ in range(2)]
        await tasks_begun()
        status, headers = await asked(app)
        assert (status, int(headers[b"retry-after"])) == (503, 1)
        exempt = [asyncio.create_task(asked(app, path)) for path in ("/health/live", "/metrics")]
        held.released.set()
        assert [(await task)[0] for task in [*first, *exempt]] == [200] * 4
        assert (await asked(app))[0] == 200

    asyncio.run(main())


async def time_runs_out() -> None:
    """Wait until a request that begins now has had its time."""
    assert (await asked(TimeLimit(reading(Held()), 1, 0.01, {})))[0] == 503


def test_an_answer_that_does_not_begin_in_time_is_503() -> None:
    async def main() -> None:
        status, headers = await asked(TimeLimit(reading(Held()), 1, 0.01, {}))
        assert (status, int(headers[b"retry-after"])) == (503, 1)

    asyncio.run(main())


def test_admin_requests_and_started_answers_have_no_time_limit() -> None:
    async def main() -> None:
        held = Held()
        task = asyncio.create_task(asked(TimeLimit(reading(held), 1, 0.01, {}), "/admin/reload"))
        await tasks_begun()
        await time_runs_out()
        held.released.set()
        assert (await task)[0] == 200

        async def slow_stream(scope: Scope, receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await time_runs_out()
            await send({"type": "http.response.body", "body": b""})

        assert (await asked(TimeLimit(reading(slow_stream), 1, 0.01, {})))[0] == 200

    asyncio.run(main())
