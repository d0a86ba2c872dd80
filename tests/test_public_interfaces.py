"""We build on what libraries publish: nothing private of them is overridden (or used: ruff)."""

from importlib import import_module
from pkgutil import walk_packages

import index
import service

SERVED_BY = {"uvicorn", "starlette", "fastapi", "prometheus_client", "httpx2"}
LIBRARIES = SERVED_BY | {"rq", "redis", "pymilvus", "ray"}


def test_nothing_private_of_a_library_is_overridden() -> None:
    packages = [(package.__path__, f"{package.__name__}.") for package in (index, service)]
    modules = [import_module(found.name) for package in packages for found in walk_packages(*package)]
    classes = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    faults = [
        f"{kind.__module__}.{kind.__name__}.{name} of {base.__module__}"
        for kind in classes
        if kind.__module__.startswith(("index.", "service."))
        for base in kind.__mro__[1:]
        if base.__module__.partition(".")[0] in LIBRARIES
        for name in vars(kind).keys() & vars(base).keys()
        if name.startswith("_") and not name.startswith("__")
    ]
    assert faults == []
