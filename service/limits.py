"""The limit on request bodies, before anything reads them: uvicorn has none."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.problems import ProblemError, ProblemType


class BodyLimit:
    """ASGI middleware: 413 for a body over `most` bytes, as declared or else as it streams."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self.app = app
        self.most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif _declared_length(scope) > self.most:
            await self._refusal().response(scope)(scope, receive, send)
        else:
            await self.app(scope, self._counting(receive), send)

    def _counting(self, receive: Receive) -> Receive:
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self.most:
                raise self._refusal()
            return message

        return counted

    def _refusal(self) -> ProblemError:
        # Closing the connection spares reading the rest of what was refused.
        return ProblemError(
            ProblemType.BODY_TOO_LARGE,
            f"body is longer than {self.most} bytes, the most that is allowed: send fewer or shorter texts",
            headers={"Connection": "close"},
        )


def _declared_length(scope: Scope) -> int:
    declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    return int(declared) if declared.isdigit() else 0
