"""What is counted, and who may read it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from index.answers.translator import Translator
from service.app import create_app
from service.observability.metrics import COUNTS_BYTES, STAGES, is_loopback
from service.settings import Settings
from tests.service.conftest import ClientFactory
from tests.service.server import serving, translate

DOG = "A small dog runs on the beach."
REQUEST = {"text": [DOG, "A big cat sleeps."], "source": "en", "target": ["de", "pt"]}


@pytest.fixture
def local(translator: Translator) -> Iterator[TestClient]:
    """A client on this machine, of an application that counts from zero."""
    with TestClient(create_app(Settings(), translator), client=("127.0.0.1", 50_000)) as client:
        yield client


def counts(text: str) -> dict[tuple[str, ...], float]:
    """Every sample: (name, values of its labels in the order of their names) -> value."""
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(one.name, *(value for _, value in sorted(one.labels.items()))): one.value for one in samples}


def test_a_request_is_counted_by_route_and_its_stages_are_timed(local: TestClient) -> None:
    before = counts(local.get("/metrics").text)
    local.post("/translate/sentence", json=REQUEST)
    local.post("/translate/sentence", json=REQUEST | {"k": 0})
    local.post("/translate/sentence", json={"text": DOG, "target": "de"})
    local.post("/translate/word", json={"word": "dog", "source": "en", "target": "de"})
    local.get("/download_file/secret")
    local.post("/translate/sentence", json=REQUEST | {"text": [DOG] * 200})  # much to clean
    answer = local.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    after = counts(answer.text)
    assert after["passepartout_request_seconds_count", "/translate/sentence", "200"] == 3
    assert after["passepartout_request_seconds_count", "/translate/sentence", "422"] == 1
    assert "secret" not in answer.text
    for stage in STAGES:
        name = "passepartout_stage_seconds"
        assert after[f"{name}_count", stage] > before[f"{name}_count", stage], stage
        assert after[f"{name}_sum", stage] > 0


def test_batches_hits_confidences_and_what_found_nothing(local: TestClient) -> None:
    before = counts(local.get("/metrics").text)  # the warm-up has encoded too
    for least in (0, 1):
        sent = REQUEST | {"text": [*REQUEST["text"], DOG], "min_confidence": least}
        local.post("/translate/sentence", json=sent)  # each text is looked up and computed once
    local.post("/translate/word", json={"word": "dog", "source": "en", "target": "de"})
    after = counts(local.get("/metrics").text)
    assert after["passepartout_batch_texts_sum",] == before["passepartout_batch_texts_sum",] + 3
    assert after["passepartout_batch_texts_count",] == before["passepartout_batch_texts_count",] + 2
    assert after["passepartout_cache_lookups_total", "miss"] == 5
    assert after["passepartout_cache_lookups_total", "hit"] == 4
    assert after["passepartout_confidence_count", "sentence"] == 12
    assert after["passepartout_confidence_count", "word"] == 1
    for target in ("de", "pt"):
        names = [("passepartout_answers_total", found, "sentence", "en", target) for found in ("yes", "no")]
        assert sum(after.get(name, 0) for name in names) == 6
        assert after[names[0]] > 0  # whatever `min_confidence` asks for


@pytest.mark.parametrize(
    ("setting", "host", "status"),
    [
        ("loopback", "127.0.0.1", 200),
        ("loopback", "::1", 200),
        ("loopback", "192.0.2.1", 404),
        ("everyone", "192.0.2.1", 200),
        ("off", "127.0.0.1", 404),
    ],
)
def test_access_to_metrics_follows_the_setting(
    translator: Translator, setting: str, host: str, status: int
) -> None:
    settings = Settings(metrics=setting)  # type: ignore[arg-type]
    with TestClient(create_app(settings, translator), client=(host, 1)) as client:
        assert client.get("/metrics").status_code == status


def test_what_is_no_address_is_not_this_machine(make_client: ClientFactory) -> None:
    assert make_client().get("/metrics").status_code == 404
    assert not is_loopback("")


def test_several_workers_add_up_what_they_count(index_dir: Path) -> None:
    with serving(index_dir, "--workers", "2") as (address, _):
        for _ in range(8):
            translate(address)
        for _ in range(3):
            with urlopen(f"{address}/metrics", timeout=10) as answer:
                found = counts(answer.read().decode())
            assert found["passepartout_request_seconds_count", "/translate/sentence", "200"] == 8


def test_files_of_counts_have_their_room_from_the_start(tmp_path: Path) -> None:
    """A page of a file that has none on a full disk is SIGBUS."""
    environment = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    code = "from service.observability.metrics import Metrics; Metrics().request('/a', 200, 0.1)"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    files = list(tmp_path.iterdir())
    assert sorted(path.name.partition("_")[0] for path in files) == ["counter", "histogram"]
    assert all(path.stat().st_blocks * 512 >= COUNTS_BYTES for path in files)
