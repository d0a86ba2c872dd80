"""What docker/Dockerfile and compose.yaml promise; .dockerignore lets through what is copied, alone."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml


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


Services = dict[str, dict[str, Any]]
SERVING = ("service", "gpu", "one", "two")


@pytest.fixture(scope="module")
def text(root: Path) -> str:
    return (root / "docker/compose.yaml").read_text("utf-8")


@pytest.fixture(scope="module")
def services(text: str) -> Services:
    services: Services = yaml.safe_load(text)["services"]
    return services


def test_the_proxy_alone_is_published_and_on_loopback(services: Services) -> None:
    published = {name: block["ports"] for name, block in services.items() if "ports" in block}
    assert published == {"proxy": ["${PASSEPARTOUT_HOST:-127.0.0.1}:${PASSEPARTOUT_PORT:-8000}:8000"]}


@pytest.mark.parametrize("name", SERVING)
def test_what_serves_waits_is_found_by_the_proxy_and_cannot_change_the_index(
    services: Services, name: str
) -> None:
    block, index = services[name], {"condition": "service_completed_successfully"}
    assert block["depends_on"] == {"index": index, "redis": {"condition": "service_healthy"}}
    assert block["networks"] == {"default": {"aliases": ["service"]}}
    assert block["environment"]["PASSEPARTOUT_TRUSTED_PROXIES"] == "*"
    assert block["environment"]["PASSEPARTOUT_ADMIN_KEYS"] == "${PASSEPARTOUT_ADMIN_KEYS:-}"
    assert block["volumes"] == ["data:/data:ro", "spool:/spool"]


def test_everything_is_confined(services: Services) -> None:
    for name, block in services.items():
        assert block["read_only"] is True, name
        assert block["cap_drop"] == ["ALL"]
        assert block["security_opt"] == ["no-new-privileges:true"]
        assert not block.get("privileged")


def test_the_worker_alone_changes_the_index_and_waits_for_the_queue(services: Services) -> None:
    worker = services["worker"]
    assert worker["volumes"] == ["data:/data", "spool:/spool"]
    assert {name: wait["condition"] for name, wait in worker["depends_on"].items()} == {
        "index": "service_completed_successfully",
        "queue": "service_healthy",
    }
    for name in ("worker", *SERVING):
        assert services[name]["environment"]["PASSEPARTOUT_JOBS_URL"] == "redis://queue:6379/0"
        assert services[name]["environment"]["PASSEPARTOUT_SPOOL"] == "/spool"


def test_it_indexes_what_make_serve_does_and_reads_that_folder(root: Path, services: Services) -> None:
    job, *arguments, index = services["index"]["entrypoint"]
    (made,) = re.findall(r"docker/index-job (.*) \$\(INDEX\)$", (root / "Makefile").read_text("utf-8"), re.M)
    assert (job, made.split()) == ("/opt/passepartout/docker/index-job", arguments)
    assert index.startswith("/data/")


def test_no_image_floats_and_nothing_is_asked_that_compose_1_refuses(text: str) -> None:
    images = re.findall(r"(?:image|BASE): \$\{\w+:-([^}]+)\}", text)
    assert len(images) == 5
    assert all(re.fullmatch(r"[a-z]+:(?!latest)\S+", image) for image in images)
    assert not re.search(r"^(name|include):|^\s+(secrets|start_interval|develop):", text, re.M)
