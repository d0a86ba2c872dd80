"""Limits how many requests are answered at the same time."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.problems import overloaded

EXEMPT_PATHS = ("/health", "/metrics")  # always answered, for monitoring


class ConcurrencyLimit:
    """ASGI middleware: 503 with Retry-After while `limit` requests are being answered.

    It comes before middleware that reads and checks requests, so that refusing costs little. A request counts
    only once its body has arrived, so that slow clients do not use up the limit.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app, self.limit = app, limit
        self.active = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(EXEMPT_PATHS):
            await self.app(scope, receive, send)
            return
        if self.active >= self.limit:
            await overloaded().response(scope)(scope, receive, send)
            return
        counted = False

        async def counting_receive() -> Message:
            nonlocal counted
            message = await receive()
            if not counted and not message.get("more_body", False):
                counted = True
                self.active += 1
            return message

        try:
            await self.app(scope, counting_receive, send)
        finally:
            self.active -= counted
