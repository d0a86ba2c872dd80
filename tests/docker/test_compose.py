"""What docker/compose.yaml promises."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

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
