"""Limits the time for receiving a body and for beginning an answer."""

import asyncio
from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.keys import is_admin
from service.http.problems import ProblemError, ProblemType, overloaded


class TimeLimit:
    """ASGI middleware: 408 if the body takes longer than `body_seconds`, 503 if the answer takes too long.

    The answer must begin within `answer_seconds` after the body. Admins' requests have no such limit.
    `uploads` has other times for the bodies of some paths.
    """

    def __init__(
        self, app: ASGIApp, body_seconds: float, answer_seconds: float, uploads: Mapping[str, float]
    ) -> None:
        self.app, self.uploads = app, uploads
        self.body_seconds, self.answer_seconds = body_seconds, answer_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        now = asyncio.get_running_loop().time
        answer_seconds = None if is_admin(scope["path"]) else self.answer_seconds
        body_arrived = False

        async def receive_in_time() -> Message:
            nonlocal body_arrived
            message = await receive()
            if not body_arrived and not message.get("more_body", False):
                body_arrived = True
                limit.reschedule(None if answer_seconds is None else now() + answer_seconds)
            return message

        async def send_in_time(message: Message) -> None:
            if message["type"] == "http.response.start":
                limit.reschedule(None)
            await send(message)

        try:
            async with asyncio.timeout(self.uploads.get(scope["path"], self.body_seconds)) as limit:
                await self.app(scope, receive_in_time, send_in_time)
        except TimeoutError:
            if not limit.expired():
                raise
            problem = overloaded() if body_arrived else _too_slow()
            await problem.response(scope)(scope, receive, send)


def _too_slow() -> ProblemError:
    # The connection is closed, so that the rest need not be awaited.
    return ProblemError(ProblemType.TOO_SLOW, headers={"Connection": "close"})
