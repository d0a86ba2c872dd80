"""What a contributor and a program that imports us rely on: hooks that exist, types that are seen."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGES = ("index", "evaluation", "training", "service")


def test_packages_say_that_they_are_typed() -> None:
    assert [name for name in PACKAGES if not (ROOT / name / "py.typed").is_file()] == []
    assert "py.typed" in PROJECT["tool"]["setuptools"]["package-data"]["*"]


def test_hooks_are_valid_local_and_call_what_is_there() -> None:
    config = ROOT / ".pre-commit-config.yaml"
    command = [Path(sys.executable).with_name("pre-commit"), "validate-config", config]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout
    text = config.read_text("utf-8")
    assert re.findall(r"repo: (.*)", text) == ["local"]
    tools = re.findall(r"entry: \.venv/bin/(\S+)(?: (\S+\.py))?", text)
    assert {name for name, _ in tools} == {"ruff", "python", "lint-imports", "mypy"}
    assert [name for name, _ in tools if not Path(sys.executable).with_name(name).exists()] == []
    assert [script for _, script in tools if script and not (ROOT / script).exists()] == []


def test_make_help_names_every_target() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    told = {line.split()[0] for line in done.stdout.splitlines()}
    assert set(phony.split()) - told == set()


def test_what_the_project_needs_is_pinned_by_versions_that_it_allows() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert [line for line in lines[1:] if not re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line)] == []
    pins = dict(line.split("==") for line in lines[1:])
    project = PROJECT["project"]
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
