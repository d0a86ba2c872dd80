"""The typed client of the service; admin.py, which imports more, has the one for administrators."""

from service.client.client import AsyncClient, Client, RefusedError, ServiceError, UnreachableError

__all__ = ["AsyncClient", "Client", "RefusedError", "ServiceError", "UnreachableError"]
