"""How often each client asks: counted in Redis for all processes and machines, if there is one, else here.

While Redis fails, each worker counts alone.
"""

import ipaddress
import math
import time
from typing import TYPE_CHECKING

from limits import RateLimitItem, parse
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import RateLimiter, SlidingWindowCounterRateLimiter
from starlette.types import Scope

from service.http.problems import ProblemError, ProblemType
from service.redis_connection import Attempts, async_options

if TYPE_CHECKING:
    from redis.asyncio import ConnectionPool

IPV6_NETWORK = 64  # bits of an address: a client can use any address of its network


class Rates:
    """Counts the recent requests of each client, for a limit such as 600/minute."""

    def __init__(self, limit: str, redis_url: str | None = None) -> None:
        self._limit: RateLimitItem = parse(limit)
        self._attempts = Attempts("counting requests here alone")
        self._local: RateLimiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._pool = None if redis_url is None else _connections(redis_url)
        self._shared = None if self._pool is None else _in_redis(self._pool)

    async def wait(self, client: str) -> int:
        """Count a request of `client`; return the seconds it must wait, 0 if the request is allowed."""
        if self._shared is not None:
            seconds = await self._attempts.result(_hit(self._shared, self._limit, client))
            if seconds is not None:
                return seconds
        return await _hit(self._local, self._limit, client)

    async def count(self, scope: Scope) -> None:
        """Count a request for its client; ProblemError if it exceeds the limit."""
        if seconds := await self.wait(client_of(scope)):
            raise ProblemError(ProblemType.TOO_MANY_REQUESTS, headers={"Retry-After": str(seconds)})

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.aclose()


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


def _connections(url: str) -> "ConnectionPool":
    from redis.asyncio import ConnectionPool

    return ConnectionPool.from_url(url, **async_options())


def _in_redis(pool: "ConnectionPool") -> RateLimiter:
    storage = RedisStorage(
        "async+redis://",  # the address is in the pool
        implementation="redispy",
        key_prefix="passepartout:rates",
        connection_pool=pool,  # type: ignore[arg-type]
    )
    return SlidingWindowCounterRateLimiter(storage)
