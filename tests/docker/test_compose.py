"""What docker/compose.yaml promises. Read as text: a YAML parser is no dependency of this project."""

import re
from pathlib import Path

import pytest

Blocks = dict[str, str]


@pytest.fixture(scope="module")
def blocks(root: Path) -> Blocks:
    """Each service's lines, with those that it merges from x-image, x-confined and x-serving."""
    text = (root / "docker/compose.yaml").read_text("utf-8")
    shared = dict(re.findall(r"^x-\S+ &(\w+)\n((?:  .*\n)+)", text, re.M))
    services = text.split("\nservices:\n")[1].split("\nvolumes:\n")[0]
    found = dict(re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", services + "\n", re.M))
    return {
        name: block + "".join(shared[alias] for alias in re.findall(r"\*(\w+)", block))
        for name, block in found.items()
    }


SERVING = ("service", "gpu", "one", "two")


def test_each_profile_starts_its_service_with_the_index_job_and_redis(blocks: Blocks, root: Path) -> None:
    found = {name: re.findall(r"profiles: \[(\w+)\]", block) for name, block in blocks.items()}
    assert found == {
        "index": [],
        "redis": [],
        "queue": ["jobs"],
        "worker": ["jobs"],
        "service": ["cpu"],
        "gpu": ["gpu"],
        "one": ["scale"],
        "two": ["scale"],
        "proxy": [],
    }
    assert "COMPOSE_PROFILES=cpu" in (root / "docker/.env").read_text("utf-8").splitlines()
    assert "capabilities: [gpu]" in blocks["gpu"]


def test_the_proxy_alone_is_published_and_on_loopback(blocks: Blocks) -> None:
    assert [name for name, block in blocks.items() if "ports:" in block] == ["proxy"]
    assert 'ports: ["${PASSEPARTOUT_HOST:-127.0.0.1}:${PASSEPARTOUT_PORT:-8000}:8000"]' in blocks["proxy"]


@pytest.mark.parametrize("name", SERVING)
def test_what_serves_waits_for_the_index_and_redis(blocks: Blocks, name: str) -> None:
    waits = dict(re.findall(r"(\w+):\n\s+condition: (\w+)", blocks[name]))
    assert waits == {"index": "service_completed_successfully", "redis": "service_healthy"}
    assert "depends_on" not in blocks["index"]


def test_the_proxy_finds_whatever_serves_and_bounds_what_the_service_does_not(
    blocks: Blocks, root: Path
) -> None:
    assert all("networks: {default: {aliases: [service]}}" in blocks[name] for name in SERVING)
    assert all('PASSEPARTOUT_TRUSTED_PROXIES: "*"' in blocks[name] for name in SERVING)
    settings = (root / "docker/nginx.conf").read_text("utf-8")
    assert re.findall(r"^ +server (\S+) .*max_fails=0;", settings, re.M) == ["service:8000"]
    for part in (
        "location /metrics { return 404; }",
        "proxy_set_header X-Forwarded-For $remote_addr;",
        "large_client_header_buffers",
        "client_header_timeout",
        "client_body_timeout",
        "send_timeout",
        "limit_conn ",
        "client_max_body_size",
    ):
        assert part in settings


@pytest.mark.parametrize("name", ["index", "redis", "proxy", "queue", "worker", *SERVING])
def test_everything_is_confined(blocks: Blocks, name: str) -> None:
    for line in ("read_only: true", "cap_drop: [ALL]", 'security_opt: ["no-new-privileges:true"]'):
        assert line in blocks[name]
    assert "privileged" not in blocks[name].replace("no-new-privileges", "")


def test_what_serves_cannot_change_the_index(blocks: Blocks) -> None:
    assert all('volumes: ["data:/data:ro", "spool:/spool"]' in blocks[name] for name in SERVING)
    assert 'volumes: ["data:/data", "spool:/spool"]' in blocks["worker"]
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


def test_the_queue_forgets_nothing_and_only_it_and_the_worker_are_started_for_jobs(blocks: Blocks) -> None:
    for part in (
        '--appendonly, "yes"',
        "noeviction",
        "mem_limit:",
        "healthcheck:",
        'volumes: ["queue:/data"]',
    ):
        assert part in blocks["queue"]
    waits = dict(re.findall(r"(\w+):\n\s+condition: (\w+)", blocks["worker"]))
    assert waits == {"index": "service_completed_successfully", "queue": "service_healthy"}
    for name in ("worker", *SERVING):
        assert "PASSEPARTOUT_JOBS_URL: redis://queue:6379/0" in blocks[name]
        assert "PASSEPARTOUT_SPOOL: /spool" in blocks[name]
        assert "PASSEPARTOUT_ADMIN_KEYS: ${PASSEPARTOUT_ADMIN_KEYS:-}" in blocks[name] or name == "worker"


def test_the_job_ends_and_the_others_come_back(blocks: Blocks) -> None:
    assert 'restart: "no"' in blocks["index"]
    assert all(
        "restart: unless-stopped" in blocks[name] for name in ("redis", "proxy", "queue", "worker", *SERVING)
    )


def test_no_image_floats(root: Path) -> None:
    text = (root / "docker/compose.yaml").read_text("utf-8")
    images = re.findall(r"(?:image|BASE): \$\{\w+:-([^}]+)\}", text)
    assert len(images) == 5
    assert all(re.fullmatch(r"[a-z]+:(?!latest)\S+", image) for image in images)


def test_it_asks_for_nothing_that_compose_1_refuses(root: Path) -> None:
    text = (root / "docker/compose.yaml").read_text("utf-8")
    assert not re.search(r"^(name|include):|^\s+(secrets|start_interval|develop):", text, re.M)
    assert "COMPOSE_PROJECT_NAME=passepartout" in (root / "docker/.env").read_text("utf-8").splitlines()
