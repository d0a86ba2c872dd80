"""Limits how many requests are answered at the same time."""

from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.problems import unavailable

EXEMPT_PATHS = ("/health", "/metrics")  # always answered, for monitoring


class ConcurrencyLimit:
    """ASGI middleware: 503 with Retry-After while `limit` requests are being answered.

    It comes before middleware that checks requests, so that refusing costs little. Slow clients are the
    proxy's to hold back: it passes a request on once all of it has arrived (docker/nginx.conf).
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app, self.limit = app, limit
        self.active = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(EXEMPT_PATHS):
            await self.app(scope, receive, send)
        elif self.active >= self.limit:
            await unavailable().response(scope)(scope, receive, send)
        else:
            self.active += 1
            try:
                await self.app(scope, receive, send)
            finally:
                self.active -= 1
