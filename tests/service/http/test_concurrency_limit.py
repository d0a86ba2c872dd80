"""Requests at a time, by the middleware alone and in the service."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from index.answers.translator import Translator
from service.http.concurrency_limit import ConcurrencyLimit
from tests.service.conftest import ClientFactory
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


def test_requests_beyond_the_limit_are_refused_until_there_is_room() -> None:
    async def main() -> None:
        held = Held()
        app = ConcurrencyLimit(held, 2)
        first = [asyncio.create_task(asked(app)) for _ in range(2)]
        await tasks_begun()
        status, headers = await asked(app)
        assert (status, int(headers[b"retry-after"])) == (503, 1)
        exempt = [asyncio.create_task(asked(app, path)) for path in ("/health/live", "/metrics")]
        held.released.set()
        assert [(await task)[0] for task in [*first, *exempt]] == [200] * 4
        assert (await asked(app))[0] == 200

    asyncio.run(main())


def test_the_service_has_the_limit_of_its_setting(
    make_client: ClientFactory, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, answer, over = make_client(max_requests=2), translator.answer, threading.Event()

    def answer_later(*given: Any) -> Any:  # noqa: ANN401
        over.wait(30)
        return answer(*given)

    monkeypatch.setattr(translator, "answer", answer_later)
    request = {"text": "A small dog runs.", "source": "en", "target": "de"}
    with ThreadPoolExecutor(3) as pool:
        sent = [pool.submit(client.post, "/translate/sentence", json=request) for _ in range(3)]
        try:
            refused = next(as_completed(sent, 30)).result()
            assert (refused.status_code, refused.json()["type"]) == (503, "/problems/overloaded")
            assert client.get("/health/ready").status_code == 200
        finally:
            over.set()
        assert sorted(one.result().status_code for one in sent) == [200, 200, 503]
