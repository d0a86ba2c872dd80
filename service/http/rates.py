"""How often one client may ask: by its API key's name, wherever the key is, else by its address.

With Redis the count is that of all workers and machines; while Redis fails, each worker counts for itself.
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

from service.engine.breaker import Breaker
from service.http.keys import is_open
from service.http.problems import ProblemError, ProblemType
from service.settings import Settings

if TYPE_CHECKING:
    from redis.asyncio import ConnectionPool

IPV6_NETWORK = 64  # bits; what one client has, who may use any address in it


class Rates:
    """Counts what each client asks in the last while, for one limit such as 600/minute."""

    def __init__(self, settings: Settings) -> None:
        self._limit: RateLimitItem = parse(settings.rate_limit or "")
        self._timeout = settings.redis_timeout_seconds
        self._breaker = Breaker(settings.redis_pause_seconds, "counting here alone")
        self._here: RateLimiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._pool = None if settings.redis_url is None else _connections(settings)
        self._everywhere = None if self._pool is None else _in_redis(self._pool)

    async def wait(self, client: str) -> int:
        """Count a request of `client`: 0 if it may go on, else the seconds until it may ask again."""
        if self._everywhere is not None and self._breaker.allows():
            try:
                async with asyncio.timeout(self._timeout):
                    seconds = await _hit(self._everywhere, self._limit, client)
            except Exception as error:  # whatever Redis does, requests are answered
                self._breaker.failed(error)
            else:
                self._breaker.worked()
                return seconds
        return await _hit(self._here, self._limit, client)

    async def count(self, scope: Scope) -> None:
        """Count a request for its client; ProblemError where it may not go on."""
        if seconds := await self.wait(client_of(scope)):
            kind = ProblemType.TOO_MANY_REQUESTS
            raise ProblemError(kind, kind.meaning, headers={"Retry-After": str(seconds)})

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.aclose()


class RateLimit:
    """ASGI middleware: 429 with Retry-After for a client that asks too often."""

    def __init__(self, app: ASGIApp, rates: Rates) -> None:
        self.app = app
        self.rates = rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_open(scope["path"]) or _key_in_body(scope):
            await self.app(scope, receive, send)
            return
        try:
            await self.rates.count(scope)
        except ProblemError as refusal:
            await refusal.response(scope)(scope, receive, send)
            return
        await self.app(scope, receive, send)


def _key_in_body(scope: Scope) -> bool:
    """Whether the route will find the key, and count (keys.py)."""
    state = scope.get("state", {})
    return "key" in state and state["key"] is None


def client_of(scope: Scope) -> str:
    """The name of the request's API key, else the address that it comes from."""
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


def _connections(settings: Settings) -> "ConnectionPool":
    from redis.asyncio import ConnectionPool
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    assert settings.redis_url is not None
    return ConnectionPool.from_url(
        settings.redis_url.get_secret_value(),
        protocol=2,
        socket_timeout=settings.redis_timeout_seconds,
        socket_connect_timeout=settings.redis_timeout_seconds,
        retry=Retry(NoBackoff(), 0),  # redis-py's own is to try again for many seconds
    )


def _in_redis(pool: "ConnectionPool") -> RateLimiter:
    storage = RedisStorage(
        "async+redis://",  # where it is, the pool knows
        implementation="redispy",
        key_prefix="passepartout:rates",
        connection_pool=pool,  # type: ignore[arg-type]
    )
    return SlidingWindowCounterRateLimiter(storage)
