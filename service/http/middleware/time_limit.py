"""How long an answer may take."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.keys import is_admin
from service.http.problems import overloaded


class TimeLimit:
    """ASGI middleware: 503 with Retry-After where an answer has not begun after `seconds`.

    What an admin asks for is done to its end.
    """

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self.app, self.seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_admin(scope["path"]):
            await self.app(scope, receive, send)
            return
        started = False

        async def send_in_time(message: Message) -> None:
            nonlocal started
            if not started:
                started = True
                limit.reschedule(None)
            await send(message)

        try:
            async with asyncio.timeout(self.seconds) as limit:
                await self.app(scope, receive, send_in_time)
        except TimeoutError:
            if not limit.expired():
                raise
            await overloaded().response(scope)(scope, receive, send)
