"""Requests at a time: those beyond the limit are refused until there is room."""

import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import pytest

from index.answers.translator import Translator
from tests.service.conftest import ClientFactory


def test_the_service_has_the_limit_of_its_setting(
    make_client: ClientFactory, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, answer, over = make_client(max_requests=2), translator.answer, threading.Event()

    def answer_later(*given: Any) -> Any:  # noqa: ANN401
        over.wait(30)
        return answer(*given)

    monkeypatch.setattr(translator, "answer", answer_later)
    request = {"text": "A small dog runs.", "source": "en", "target": "de"}
    with ThreadPoolExecutor(3) as pool:
        sent = [pool.submit(client.post, "/translate/sentence", json=request) for _ in range(3)]
        try:
            refused = next(as_completed(sent, 30)).result()
            assert (refused.status_code, refused.json()["type"]) == (503, "/problems/overloaded")
            assert refused.headers["retry-after"] == "1"
            assert client.get("/health/ready").status_code == 200
        finally:
            over.set()
        assert sorted(one.result().status_code for one in sent) == [200, 200, 503]
    assert client.post("/translate/sentence", json=request).status_code == 200
