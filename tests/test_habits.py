"""What a contributor and a program that imports us rely on: hooks that exist, types that are seen."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

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
