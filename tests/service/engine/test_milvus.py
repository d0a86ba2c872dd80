"""An index whose vectors Milvus has: served like any other; a Milvus that is away is a 503, and soon."""

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from index.build.build_index import build_index
from index.encoder.bundle import Bundle
from index.storage.options import Options
from service.app import create_app
from service.settings import Settings
from tests.bundles import make_corpus, sentences
from tests.index.vectors.test_milvus import eventually
from tests.milvus_server import MilvusServer
from tests.service.server import SERVE, free_port

TEXTS = sentences("en")[7:207:100]


@pytest.fixture(scope="module")
def stored(bundle: Bundle, milvus_server: MilvusServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Vectors in Milvus; its answers are those of files: tests/index/vectors/test_milvus.py."""
    folder = tmp_path_factory.mktemp("stored")
    corpora = make_corpus(folder / "corpus", ("en", "de"))
    build_index(bundle, corpora, folder / "index", options=Options(store=milvus_server.address))
    return folder / "index"


def ask(client: TestClient, text: str | list[str], **more: object) -> Any:  # noqa: ANN401
    return client.post("/translate/sentence", json={"text": text, "source": "en", "target": "de", **more})


def test_a_milvus_that_is_away_is_a_problem_and_words_are_answered(
    stored: Path, milvus_server: MilvusServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("index.vectors.milvus.QUERY_SECONDS", 2.0)
    with TestClient(create_app(Settings(index=stored))) as client:
        eventually(lambda: ask(client, TEXTS[0]).status_code == 200)
        milvus_server.freeze()
        began = time.monotonic()
        for path in ("native", "libretranslate"):
            if path == "native":
                refused = ask(client, TEXTS[1])
                assert refused.headers["content-type"] == "application/problem+json"
                assert refused.json()["type"] == "/problems/store-unreachable"
            else:
                refused = client.post("/translate", json={"q": TEXTS[1], "source": "en", "target": "de"})
                assert "Milvus" in refused.json()["error"]
            assert refused.status_code == 503
            assert refused.headers["retry-after"] == "1"
            assert "127.0.0.1" not in refused.text
        assert time.monotonic() - began < 5
        assert ask(client, TEXTS[0]).status_code == 200  # from the cache
        word = client.post("/translate/word", json={"word": "dog", "source": "en", "target": "de"})
        assert word.json()["results"][0]["translations"]["de"][0]["text"] == "hund"
        milvus_server.thaw()
        eventually(lambda: ask(client, TEXTS[1]).status_code == 200)


def test_a_milvus_that_is_away_at_the_start_is_one_line(stored: Path, milvus_server: MilvusServer) -> None:
    milvus_server.kill()
    command = [*SERVE, "--index", str(stored), "--port", str(free_port())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "is it running?" in done.stderr
    milvus_server.start()
