"""Limits the request rate of each client, identified by the name of its API key, or else by its address.

With Redis, requests are counted over all workers and machines; while Redis fails, each worker counts alone.
"""

import asyncio
import ipaddress
import math
import time
from typing import TYPE_CHECKING

from limits import RateLimitItem, parse
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import RateLimiter, SlidingWindowCounterRateLimiter
from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.middleware.api_keys import is_open, key_is_in_body
from service.http.problems import ProblemError, ProblemType
from service.redis_connection import Breaker, async_options

if TYPE_CHECKING:
    from redis.asyncio import ConnectionPool

IPV6_NETWORK = 64  # bits of an address: a client can use any address of its network


class Rates:
    """Counts the recent requests of each client, for a limit such as 600/minute.

    `timeout`: how many seconds Redis may take; `pause`: for how many it is not used after a failure.
    """

    def __init__(
        self, limit: str, redis_url: str | None = None, *, timeout: float = 0.02, pause: float = 2.0
    ) -> None:
        self._limit: RateLimitItem = parse(limit)
        self._timeout = timeout
        self._breaker = Breaker(pause, "counting here alone")
        self._local: RateLimiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._pool = None if redis_url is None else _connections(redis_url, timeout)
        self._shared = None if self._pool is None else _in_redis(self._pool)

    async def wait(self, client: str) -> int:
        """Count a request of `client`; return the seconds it must wait, 0 if the request is allowed."""
        if self._shared is not None and self._breaker.allows():
            try:
                async with asyncio.timeout(self._timeout):
                    seconds = await _hit(self._shared, self._limit, client)
            except Exception as error:  # requests are answered whatever Redis does
                self._breaker.failed(error)
            else:
                self._breaker.worked()
                return seconds
        return await _hit(self._local, self._limit, client)

    async def count(self, scope: Scope) -> None:
        """Count a request for its client; ProblemError if it exceeds the limit."""
        if seconds := await self.wait(client_of(scope)):
            raise ProblemError(ProblemType.TOO_MANY_REQUESTS, headers={"Retry-After": str(seconds)})

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.aclose()


class RateLimit:
    """ASGI middleware: 429 with Retry-After for a client that asks too often."""

    def __init__(self, app: ASGIApp, rates: Rates) -> None:
        self.app, self.rates = app, rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not is_open(scope["path"]) and not key_is_in_body(scope):
            try:
                await self.rates.count(scope)
            except ProblemError as problem:
                await problem.response(scope)(scope, receive, send)
                return
        await self.app(scope, receive, send)


def client_of(scope: Scope) -> str:
    """The name of the request's API key, or else the address it comes from."""
    name = scope.get("state", {}).get("key")
    if name is not None:
        return f"key {name}"
    host = scope["client"][0] if scope.get("client") else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return f"host {host}"
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return f"network {ipaddress.ip_network((address, IPV6_NETWORK), strict=False)}"
    return f"host {host}"


async def _hit(limiter: RateLimiter, limit: RateLimitItem, client: str) -> int:
    if await limiter.hit(limit, client):
        return 0
    stats = await limiter.get_window_stats(limit, client)
    return max(1, math.ceil(stats.reset_time - time.time()))


def _connections(url: str, timeout: float) -> "ConnectionPool":
    from redis.asyncio import ConnectionPool

    return ConnectionPool.from_url(url, **async_options(timeout))


def _in_redis(pool: "ConnectionPool") -> RateLimiter:
    storage = RedisStorage(
        "async+redis://",  # the address is in the pool
        implementation="redispy",
        key_prefix="passepartout:rates",
        connection_pool=pool,  # type: ignore[arg-type]
    )
    return SlidingWindowCounterRateLimiter(storage)
