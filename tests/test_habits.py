"""What a contributor relies on: help for make, versions that fit one another, one type for one noun."""

import ast
import re
import subprocess
import tomllib
from collections import defaultdict
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("index", "service", "training", "evaluation", "benchmarks", "scripts")
ALIASED = ("index", "service", "training", "evaluation")  # whose type aliases have names of their own


def test_make_help_names_every_target() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    (phony,) = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(phony.split()) - {line.split()[0] for line in done.stdout.splitlines()} == set()


def test_what_the_project_needs_is_pinned_by_versions_that_it_allows() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert [line for line in lines[1:] if not re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line)] == []
    pins = dict(line.split("==") for line in lines[1:])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    parts = ("cpu", "train", "dev", "client", "formats", "milvus", "ray")
    needs = map(Requirement, [*project["dependencies"], *(need for part in parts for need in extras[part])])
    refused = [
        str(need)
        for need in needs
        if need.name != project["name"]
        and (need.marker is None or need.marker.evaluate())
        and not need.specifier.contains(pins.get(canonicalize_name(need.name), "0"))
    ]
    assert refused == []


def test_no_two_classes_have_one_name_and_a_kind_of_array_has_one_alias() -> None:
    names, arrays = defaultdict(list), defaultdict(list)
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        place = path.relative_to(ROOT)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                names[node.name].append(str(place))
            elif place.parts[0] in ALIASED and (alias := alias_of(node)):
                names[alias].append(str(place))
                arrays[ast.unparse(node.value)].append(alias)
    assert {name: paths for name, paths in names.items() if len(paths) > 1} == {}
    assert {kind: found for kind, found in arrays.items() if "NDArray" in kind and len(found) > 1} == {}


def alias_of(node: ast.stmt) -> str | None:
    """The name of a type alias, written as classes are; None for another statement."""
    if not isinstance(node, ast.Assign) or not isinstance(name := node.targets[0], ast.Name):
        return None
    is_alias = re.fullmatch("[A-Z]+[a-z][A-Za-z]*", name.id) and not ast.unparse(node.value).startswith(
        "TypeVar("
    )
    return name.id if is_alias else None
