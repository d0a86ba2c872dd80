"""What docker/Dockerfile promises, and that .dockerignore lets through what it copies and nothing else."""

import json
import re
import tomllib
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def instructions(root: Path) -> list[tuple[str, str]]:
    """(instruction, rest), comments dropped and continued lines joined."""
    text = (root / "docker/Dockerfile").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in joined.splitlines() if line)]


@pytest.fixture(scope="module")
def last_stage(instructions: list[tuple[str, str]]) -> list[tuple[str, str]]:
    start = max(number for number, (name, _) in enumerate(instructions) if name == "FROM")
    return instructions[start:]


def values(stage: list[tuple[str, str]], wanted: str) -> list[str]:
    return [rest for name, rest in stage if name == wanted]


def test_every_install_is_pinned(root: Path, instructions: list[tuple[str, str]]) -> None:
    """That of the package itself, too, which builds it with setuptools."""
    first = next(
        number for number, (name, rest) in enumerate(instructions) if name == "RUN" and "pip" in rest
    )
    assert any(
        "PIP_CONSTRAINT=/build/constraints.txt" in rest for rest in values(instructions[:first], "ENV")
    )
    assert re.search(r"^setuptools==", (root / "constraints.txt").read_text("utf-8"), re.M)


def test_what_it_installs_has_hashes(root: Path, instructions: list[tuple[str, str]]) -> None:
    """`make pins` writes both files: of the same versions, each file of a package with its SHA-256."""
    assert any("--require-hashes -r hashed.txt" in run for run in values(instructions, "RUN"))
    text = (root / "docker/requirements.txt").read_text("utf-8").replace("\\\n", "")
    packages = [line.split() for line in text.splitlines() if not line.startswith("#")]
    pinned = (root / "constraints.txt").read_text("utf-8").splitlines()
    assert [package for package, *_ in packages if package not in pinned] == []
    assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", one) for _, *row in packages for one in row)
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    named = [*project["dependencies"], *extras["cpu"], *extras["formats"]]
    wanted = {re.split(r"[^\w.-]", one)[0].lower() for one in named}
    assert wanted - {package.partition("==")[0] for package, *_ in packages} == set()


def test_it_runs_as_a_numbered_user_who_is_not_root(last_stage: list[tuple[str, str]]) -> None:
    (user,) = values(last_stage, "USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    uid, gid = user.split(":")
    # A volume takes its owner from the image's folder.
    assert f"--owner={uid} --group={gid} /data" in " ".join(values(last_stage, "RUN"))


def test_the_last_stage_installs_nothing(last_stage: list[tuple[str, str]]) -> None:
    assert not re.search(r"\b(pip|apt|apt-get|curl|wget)\b", " ".join(values(last_stage, "RUN")))
    copies = values(last_stage, "COPY")
    assert copies
    assert all(copy.startswith("--from=build ") for copy in copies)


def test_the_context_is_what_is_copied(root: Path, instructions: list[tuple[str, str]]) -> None:
    local = [copy.split()[:-1] for copy in values(instructions, "COPY") if not copy.startswith("--from")]
    copied = {name for names in local for name in names}
    rules = [line for line in (root / ".dockerignore").read_text("utf-8").splitlines() if line[:1] not in "#"]
    # All out first, so that .git, .venv, runs and var stay out without being named.
    assert rules[0] == "*"
    assert {rule[1:] for rule in rules if rule.startswith("!")} == copied
    assert rules.index("**/__pycache__") > max(n for n, rule in enumerate(rules) if rule.startswith("!"))


def test_every_package_of_the_project_is_copied(root: Path, instructions: list[tuple[str, str]]) -> None:
    setuptools = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    packages = {pattern.rstrip("*") for pattern in setuptools["packages"]["find"]["include"]}
    modules = {f"{name}.py" for name in setuptools["py-modules"]}
    assert packages | modules <= set(" ".join(values(instructions, "COPY")).split())


def test_the_image_has_no_weights_that_are_for_research_only(
    root: Path, last_stage: list[tuple[str, str]]
) -> None:
    left_out = (root / ".dockerignore").read_text("utf-8").splitlines()
    bundles = [path for path in (root / "models").iterdir() if f"models/{path.name}" not in left_out]
    (manifest,) = [json.loads((path / "manifest.json").read_text("utf-8")) for path in bundles]
    assert manifest["licence"].startswith("CC BY-SA 4.0")
    assert 'licenses="Apache-2.0 AND CC0-1.0 AND CC-BY-SA-4.0"' in " ".join(values(last_stage, "LABEL"))
    compose = (root / "docker/compose.yaml").read_text("utf-8")
    assert re.findall(r"\bmodels/\w+", compose) == [f"models/{manifest['name']}"]
