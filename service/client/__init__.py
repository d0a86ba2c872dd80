"""The typed client of the service: what it can ask (calls.py), sync and async (client.py)."""

from service.client.client import AsyncClient, Client, RefusedError, ServiceError, UnreachableError

__all__ = ["AsyncClient", "Client", "RefusedError", "ServiceError", "UnreachableError"]
