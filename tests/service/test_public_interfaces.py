"""Service and index build on what libraries publish: nothing private of them is used or overridden, nothing
is passed off as another class."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import service

ROOT = Path(__file__).parents[2]
FILES = sorted(path for package in ("service", "index") for path in (ROOT / package).rglob("*.py"))
LIBRARIES = (
    *("uvicorn", "starlette", "fastapi", "prometheus_client", "httpx2", "limits"),
    *("rq", "redis", "pymilvus", "ray", "faiss", "onnxruntime"),
)
# Not published as interfaces, though their names do not say so.
INTERNAL_MODULES = ("uvicorn.protocols", "uvicorn.supervisors")
PUBLISHED = {"os._exit"}  # in spite of the name
OF_NAMED_TUPLES = {"_replace", "_asdict", "_fields", "_make"}  # likewise


def imported_names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """What a file imports of LIBRARIES, as (module, name); the name is empty where the module itself is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def own_private_names(tree: ast.Module) -> set[str]:
    """The private attributes, methods and functions that a file defines itself."""
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_private_of_a_library_is_used(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    faults = [
        f"{module}.{name}"
        for module, name in imported_names(tree)
        if module.partition(".")[0] in LIBRARIES
        and (
            module.startswith(INTERNAL_MODULES)
            or any(part.startswith("_") for part in [*module.split("."), name])
        )
    ]
    own = own_private_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            if node.attr == "__class__" and isinstance(node.ctx, ast.Store):
                faults.append(f"line {node.lineno}: __class__ is assigned")
            private = node.attr.startswith("_") and not node.attr.startswith("__")
            foreign = private and not _is_self(node.value) and node.attr not in own | OF_NAMED_TUPLES
            if foreign and (name := ast.unparse(node)) not in PUBLISHED:
                faults.append(f"line {node.lineno}: {name}")
    assert faults == []


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


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
