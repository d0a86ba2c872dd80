"""The service builds on what libraries publish: nothing private of them is overridden (or used: ruff)."""

from importlib import import_module
from pkgutil import walk_packages

import service

LIBRARIES = ("uvicorn", "starlette", "fastapi", "prometheus_client", "httpx2", "limits", "rq", "redis")


def test_nothing_private_of_a_library_is_overridden() -> None:
    modules = [import_module(found.name) for found in walk_packages(service.__path__, "service.")]
    classes = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    faults = [
        f"{kind.__module__}.{kind.__name__}.{name} of {base.__module__}"
        for kind in classes
        if kind.__module__.startswith("service.")
        for base in kind.__mro__[1:]
        if base.__module__.partition(".")[0] in LIBRARIES
        for name in vars(kind).keys() & vars(base).keys()
        if name.startswith("_") and not name.startswith("__")
    ]
    assert faults == []
