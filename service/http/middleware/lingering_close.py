"""Reads the rest of a body after the request has been answered."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

DRAINED_BYTES = 16 * 1024 * 1024
DRAINED_SECONDS = 5.0


class LingeringClose:
    """ASGI middleware, the outermost: reads the rest of a body before the server may close the connection.

    The answer is sent at once; only its end is delayed, until the body has ended, DRAINED_BYTES have come or
    DRAINED_SECONDS have passed. If a server closes while the client is still sending, the connection is
    reset: the client may never see the answer, and a reverse proxy may take the server for dead (RFC 9112,
    9.6).
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body_read = held = False

        async def noting_receive() -> Message:
            nonlocal body_read
            message = await receive()
            body_read = not message.get("more_body", False)  # also true if the client has disconnected
            return message

        async def holding_send(message: Message) -> None:
            nonlocal held
            if not body_read and message["type"] == "http.response.body" and not message.get("more_body"):
                held = True
                message = {**message, "more_body": True}
            await send(message)

        await self.app(scope, noting_receive, holding_send)
        if held:
            await _drain(receive)
            await send({"type": "http.response.body", "body": b""})


async def _drain(receive: Receive) -> None:
    length = 0
    try:
        async with asyncio.timeout(DRAINED_SECONDS):
            while length <= DRAINED_BYTES:
                message = await receive()
                length += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return
    except TimeoutError:
        pass
