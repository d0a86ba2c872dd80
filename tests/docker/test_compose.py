"""What docker/compose.yaml promises. Read as text: a YAML parser is no dependency of this project."""

import re
from pathlib import Path

import pytest

Blocks = dict[str, str]


@pytest.fixture(scope="module")
def blocks(root: Path) -> Blocks:
    """Each service's lines, with those that it merges from x-image and x-confined."""
    text = (root / "docker/compose.yaml").read_text("utf-8")
    shared = dict(re.findall(r"^x-\S+ &(\w+)\n((?:  .*\n)+)", text, re.M))
    services = text.split("\nservices:\n")[1].split("\nvolumes:\n")[0]
    found = dict(re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", services + "\n", re.M))
    return {
        name: block + "".join(shared[alias] for alias in re.findall(r"\*(\w+)", block))
        for name, block in found.items()
    }


def test_there_are_the_index_job_redis_and_the_service(blocks: Blocks) -> None:
    assert set(blocks) == {"index", "redis", "service"}


def test_only_the_service_is_published_and_on_loopback(blocks: Blocks) -> None:
    assert [name for name, block in blocks.items() if "ports:" in block] == ["service"]
    assert 'ports: ["${PASSEPARTOUT_HOST:-127.0.0.1}:${PASSEPARTOUT_PORT:-8000}:8000"]' in blocks["service"]


def test_the_service_waits_for_the_index_and_redis(blocks: Blocks) -> None:
    waits = dict(re.findall(r"(\w+):\n\s+condition: (\w+)", blocks["service"]))
    assert waits == {"index": "service_completed_successfully", "redis": "service_healthy"}
    assert "depends_on" not in blocks["index"]


@pytest.mark.parametrize("name", ["index", "redis", "service"])
def test_everything_is_confined(blocks: Blocks, name: str) -> None:
    for line in ("read_only: true", "cap_drop: [ALL]", 'security_opt: ["no-new-privileges:true"]'):
        assert line in blocks[name]
    assert "privileged" not in blocks[name].replace("no-new-privileges", "")


def test_the_service_cannot_change_the_index(blocks: Blocks) -> None:
    assert 'volumes: ["data:/data:ro"]' in blocks["service"]
    assert 'volumes: ["data:/data"]' in blocks["index"]


def test_redis_is_a_bounded_cache_that_leaves_nothing_behind(blocks: Blocks) -> None:
    redis = blocks["redis"]
    for part in (
        '--save, ""',
        '--appendonly, "no"',
        "--maxmemory, 64mb",
        "allkeys-lru",
        "mem_limit:",
        "healthcheck:",
    ):
        assert part in redis
    user = re.search(r'user: "(\d+):\d+"', redis)
    assert user
    assert int(user[1]) > 0


def test_the_job_ends_and_the_others_come_back(blocks: Blocks) -> None:
    assert 'restart: "no"' in blocks["index"]
    assert all("restart: unless-stopped" in blocks[name] for name in ("redis", "service"))


def test_no_image_floats(root: Path) -> None:
    text = (root / "docker/compose.yaml").read_text("utf-8")
    images = re.findall(r"(?:image|BASE): \$\{\w+:-([^}]+)\}", text)
    assert len(images) == 3
    assert all(re.fullmatch(r"[a-z]+:(?!latest)\S+", image) for image in images)


def test_it_asks_for_nothing_that_compose_1_refuses(root: Path) -> None:
    text = (root / "docker/compose.yaml").read_text("utf-8")
    assert not re.search(r"^(name|include):|^\s+(secrets|start_interval|develop):", text, re.M)
    assert "COMPOSE_PROJECT_NAME=passepartout" in (root / "docker/.env").read_text("utf-8").splitlines()
