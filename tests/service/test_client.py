"""The client against a real server."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from index.answers.translator import Translator
from index.errors import PassepartoutError, UsageError
from service.client import Client, RefusedError, UnreachableError
from tests.service.http.test_access import ENTRIES, KEY
from tests.service.server import serving

DOG = "A small dog runs on the beach."


def test_it_translates_and_lists(address: str, translator: Translator) -> None:
    with Client(address) as client:
        answer = client.sentences(DOG, ["de", "pt"], source="en", k=3)
        word = client.words(["dog", "cat"], "de", source="en")
        ready = client.ready()
        assert ready.index == translator.version
        assert ready.licence == translator.encoder.bundle.manifest.licence
        assert [one.code for one in client.languages()] == ["en", "de", "pt", "zh", "ar"]
    (result,) = answer.results
    likely = [match.text for match in translator.sentences([DOG], "en", "de", 3)[0] if match.match != "near"]
    assert [one.text for one in result.translations["de"]] == likely
    assert likely
    assert [one.translations["de"][0].text for one in word.results] == ["hund", "katze"]


def test_a_refusal_has_the_problem_of_the_service(address: str) -> None:
    with Client(address) as client, pytest.raises(RefusedError, match="use one of ar, de, en") as caught:
        client.sentences(DOG, "xx")
    assert caught.value.problem.type == "/problems/unknown-language"
    assert (caught.value.exit_code, isinstance(caught.value, PassepartoutError)) == (2, True)
    with Client(address) as client, pytest.raises(RefusedError, match="k is 51, the limit is 50"):
        client.words("dog", "de", source="en", k=51)


def test_the_key_is_sent(index_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSEPARTOUT_API_KEYS", ENTRIES)
    with serving(index_dir) as (address, _):
        with Client(address, key=KEY) as client:
            assert client.words("dog", "de", source="en").results
        with Client(address) as client, pytest.raises(RefusedError, match="needs an API key"):
            client.words("dog", "de", source="en")


def answering(*responses: tuple[int, dict[str, Any]]) -> httpx2.MockTransport:
    given = iter(responses)

    def answer(request: httpx2.Request) -> httpx2.Response:
        status, more = next(given)
        return httpx2.Response(status, **more)

    return httpx2.MockTransport(answer)


LANGUAGES: tuple[int, dict[str, Any]] = (200, {"json": []})
PROBLEM = {"type": "x", "title": "Busy", "status": 503, "detail": "later"}
BUSY: tuple[int, dict[str, Any]] = (503, {"headers": {"Retry-After": "0"}, "json": PROBLEM})


def test_an_overloaded_service_is_asked_again() -> None:
    with Client("http://x", transport=answering(BUSY, BUSY, LANGUAGES)) as client:
        assert client.languages() == []
    with (
        Client("http://x", transport=answering(BUSY, BUSY), retries=1) as client,
        pytest.raises(RefusedError) as caught,
    ):
        client.languages()
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("url", ["localhost", "ftp://x", "http://", ""])
def test_what_is_no_address_is_reported(url: str) -> None:
    with pytest.raises(UsageError, match="is not an address"):
        Client(url)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://["])
def test_an_unreachable_service_is_reported(url: str) -> None:
    with pytest.raises(UnreachableError, match="running"), Client(url) as client:
        client.languages()


@pytest.mark.parametrize(
    "response", [(404, {"text": "<html>"}), (200, {"text": "<"}), (200, {"json": {"a": 1}})]
)
def test_another_service_is_recognised(response: tuple[int, dict[str, Any]]) -> None:
    with Client("http://x", transport=answering(response, response)) as client:
        for ask in (client.languages, client.ready):
            with pytest.raises(UnreachableError, match="Passepartout"):
                ask()
