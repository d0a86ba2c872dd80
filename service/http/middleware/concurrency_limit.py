"""How many requests are answered at a time."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.problems import overloaded

EXEMPT = ("/health", "/metrics")  # answered however busy the service is: what watches it must see it


class ConcurrencyLimit:
    """ASGI middleware: 503 with Retry-After while `limit` requests are being answered.

    It stands before what reads and checks a request, so that a refusal costs little. A request counts once
    its body has arrived: clients that send slowly take nobody's place.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app, self.limit = app, limit
        self.active = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(EXEMPT):
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
