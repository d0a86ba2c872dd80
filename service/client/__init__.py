"""The typed client of the service. The one with an admin's key is in admin.py, which loads more."""

from service.client.client import AsyncClient, Client, RefusedError, ServiceError, UnreachableError

__all__ = ["AsyncClient", "Client", "RefusedError", "ServiceError", "UnreachableError"]
