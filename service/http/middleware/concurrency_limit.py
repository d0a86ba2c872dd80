"""How many requests are answered at a time."""

from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.problems import overloaded

EXEMPT = ("/health", "/metrics")  # answered however busy the service is: what watches it must see it


class ConcurrencyLimit:
    """ASGI middleware: 503 with Retry-After while `limit` requests are being answered."""

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
        self.active += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.active -= 1
