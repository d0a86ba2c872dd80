"""What docker/compose.yaml promises."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

Services = dict[str, dict[str, Any]]
SERVING = ("service", "gpu", "one", "two")
KEPT_UP = ("redis", "proxy", "queue", "worker", *SERVING)


@pytest.fixture(scope="module")
def text(root: Path) -> str:
    return (root / "docker/compose.yaml").read_text("utf-8")


@pytest.fixture(scope="module")
def services(text: str) -> Services:
    services: Services = yaml.safe_load(text)["services"]
    return services


def test_each_profile_starts_its_service_with_the_index_job_and_redis(services: Services, root: Path) -> None:
    found = {name: block.get("profiles", []) for name, block in services.items()}
    assert found == {
        **{"index": [], "redis": [], "proxy": [], "queue": ["jobs"], "worker": ["jobs"]},
        **{"service": ["cpu"], "gpu": ["gpu"], "one": ["scale"], "two": ["scale"]},
    }
    settings = (root / "docker/.env").read_text("utf-8").splitlines()
    assert {"COMPOSE_PROFILES=cpu", "COMPOSE_PROJECT_NAME=passepartout"} <= set(settings)
    (device,) = services["gpu"]["deploy"]["resources"]["reservations"]["devices"]
    assert device["capabilities"] == ["gpu"]


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


def test_the_proxy_bounds_what_the_service_does_not(root: Path) -> None:
    settings = (root / "docker/nginx.conf").read_text("utf-8")
    assert re.findall(r"^ +server (\S+) .*max_fails=0;", settings, re.M) == ["service:8000"]
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in settings
    directives = set(re.findall(r"^ +(\w+) ", settings, re.M))
    timeouts = {"client_header_timeout", "client_body_timeout", "send_timeout"}
    assert directives >= {"large_client_header_buffers", "limit_conn", "client_max_body_size"} | timeouts


def test_everything_is_confined(services: Services) -> None:
    for name, block in services.items():
        assert block["read_only"] is True, name
        assert block["cap_drop"] == ["ALL"]
        assert block["security_opt"] == ["no-new-privileges:true"]
        assert not block.get("privileged")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("redis", "--save , --appendonly no, --maxmemory 64mb, --maxmemory-policy allkeys-lru"),
        ("queue", "--save , --appendonly yes, --maxmemory 64mb, --maxmemory-policy noeviction"),
    ],
)
def test_the_cache_leaves_nothing_behind_and_the_queue_forgets_nothing(
    services: Services, name: str, words: str
) -> None:
    block = services[name]
    command = dict(zip(block["command"][1::2], block["command"][2::2], strict=True))
    assert command.items() >= {tuple(word.split(" ")) for word in words.split(", ")}
    assert block.keys() >= {"mem_limit", "healthcheck"}
    assert int(block["user"].split(":")[0]) > 0
    assert block.get("volumes", []) == (["queue:/data"] if name == "queue" else [])


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


def test_the_job_ends_and_the_others_come_back(services: Services) -> None:
    assert (services["index"]["volumes"], services["index"]["restart"]) == (["data:/data"], "no")
    assert {services[name]["restart"] for name in KEPT_UP} == {"unless-stopped"}


def test_no_image_floats_and_nothing_is_asked_that_compose_1_refuses(text: str) -> None:
    images = re.findall(r"(?:image|BASE): \$\{\w+:-([^}]+)\}", text)
    assert len(images) == 5
    assert all(re.fullmatch(r"[a-z]+:(?!latest)\S+", image) for image in images)
    assert not re.search(r"^(name|include):|^\s+(secrets|start_interval|develop):", text, re.M)
