"""The typed client of the service: `Client` and `AsyncClient`, with an admin's key `AdminClient`."""

from service.client.admin import AdminClient, AsyncAdminClient
from service.client.client import AsyncClient, Client, RefusedError, ServiceError, UnreachableError

__all__ = [
    "AdminClient",
    "AsyncAdminClient",
    "AsyncClient",
    "Client",
    "RefusedError",
    "ServiceError",
    "UnreachableError",
]
