"""Every refusal: a problem document that names the field and the limit and says what to change."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from service import limits
from service.http.problems import MEDIA_TYPE, Problem
from tests.service.conftest import ClientFactory

GOOD = {"text": "A small dog runs.", "source": "en", "target": "de"}
WORD = {"word": "dog", "source": "en", "target": "de"}
JSON = "application/json"


def checked(answer: Any, status: int, slug: str) -> Problem:  # noqa: ANN401
    """The problem document of an answer, of this status and type."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == MEDIA_TYPE
    problem = Problem.model_validate(answer.json(), strict=True)
    assert (problem.status, problem.type) == (status, f"/problems/{slug}")
    return problem


def refused(client: TestClient, changes: dict[str, Any], slug: str = "invalid-request") -> Problem:
    return checked(client.post("/translate/sentence", json=GOOD | changes), 422, slug)


@pytest.mark.parametrize(
    ("changes", "field", "limit"),
    [
        ({"text": ""}, "text", 1),
        ({"text": " \t\n"}, "text", 1),
        ({"text": "\u0000\u200e"}, "text", 1),
        ({"text": ["A dog.", ""]}, "text[1]", 1),
        ({"text": []}, "text", 1),
        ({"text": "x" * 1001}, "text", 1000),
        ({"text": ["A dog.", "x" * 1001]}, "text[1]", 1000),
        ({"text": ["A dog."] * 257}, "text", 256),
        ({"text": None}, "text", None),
        ({"text": 5}, "text", None),
        ({"text": {"a": 1}}, "text", None),
        ({"text": ["A dog.", 5]}, "text[1]", None),
        ({"text": [["A dog."]]}, "text[0]", None),
        ({"source": 5}, "source", None),
        ({"source": ["en"]}, "source", None),
        ({"target": []}, "target", 1),
        ({"target": None}, "target", None),
        ({"target": ["de", None]}, "target[1]", None),
        ({"target": ["de"] * 17}, "target", 16),
        ({"source": None, "target": "en"}, "target", None),
        ({"k": 0}, "k", 1),
        ({"k": -1}, "k", 1),
        ({"k": 51}, "k", 50),
        ({"k": 10**30}, "k", 50),
        ({"k": "3"}, "k", None),
        ({"k": 1.5}, "k", None),
        ({"k": True}, "k", None),
        ({"k": None}, "k", None),
        ({"min_confidence": -0.1}, "min_confidence", 0),
        ({"min_confidence": 1.1}, "min_confidence", 1),
        ({"min_confidence": "0.5"}, "min_confidence", None),
        ({"kk": 3}, "kk", None),
        ({"word": "dog"}, "word", None),
    ],
    ids=lambda value: json.dumps(value)[:40],
)
def test_a_field_that_is_wrong(
    client: TestClient, changes: dict[str, Any], field: str, limit: float | None
) -> None:
    problem = refused(client, changes)
    (error,) = problem.errors or []
    assert (error.field, error.limit) == (field, limit)
    assert field.partition("[")[0] in error.message
    assert error.message in problem.detail
    if limit is not None and limit > 1:
        assert str(limit) in problem.detail


@pytest.mark.parametrize("name", ["text", "target"])
def test_a_field_that_is_missing(client: TestClient, name: str) -> None:
    body = {key: value for key, value in GOOD.items() if key != name}
    problem = checked(client.post("/translate/sentence", json=body), 422, "invalid-request")
    assert problem.detail == f"{name} is missing: it is required"


def sent(field: str, value: bytes) -> bytes:
    """GOOD with a field as these bytes."""
    return json.dumps(GOOD | {field: None}).encode().replace(b"null", value)


@pytest.mark.parametrize(
    ("body", "content_type", "status", "slug", "word"),
    [
        *((body, JSON, 422, "invalid-request", "body") for body in (b"[]", b"5", b"null", b'"text"')),
        *(
            (body, JSON, 400, "bad-json", "body")
            for body in (b"{", b"", b"{'text': 1}", b'{"text": "a",}', b"[" * 30_000, b'{"a": "\xff"}', b"\0")
        ),
        # What Python reads as JSON, and nobody else.
        *((sent("k", value), JSON, 422, "invalid-request", "k") for value in (b"NaN", b"Infinity")),
        (sent("text", rb'"\ud800"'), JSON, 422, "invalid-request", "text"),
        *(
            (b"{}", content_type, 415, "unsupported-media-type", JSON)
            for content_type in ("text/plain", "application/x-www-form-urlencoded", "", "application/jsonx")
        ),
    ],
    ids=lambda value: repr(value)[:25],
)
def test_a_body_that_cannot_be_read(
    client: TestClient, body: bytes, content_type: str, status: int, slug: str, word: str
) -> None:
    answer = client.post("/translate/sentence", content=body, headers={"Content-Type": content_type})
    assert word in checked(answer, status, slug).detail


def test_a_word_has_its_own_limit(client: TestClient) -> None:
    problem = checked(client.post("/translate/word", json=WORD | {"word": "x" * 101}), 422, "invalid-request")
    assert problem.detail == "word has 101 characters, the limit is 100: shorten it"
    assert client.post("/translate/word", json=WORD | {"word": "x" * 100}).status_code == 200


def test_too_many_answers_in_all(client: TestClient) -> None:
    problem = refused(client, {"text": ["A dog."] * 256, "k": 50})
    assert problem.detail.startswith("text, target and k ask for 12800 answers in all, the limit is 3000")


def test_every_error_is_listed_up_to_a_limit(client: TestClient) -> None:
    problem = refused(client, {"k": 0, "min_confidence": 2, "more": 1})
    assert {error.field for error in problem.errors or []} == {"k", "min_confidence", "more"}
    problem = refused(client, {"text": [""] * 200})
    assert len(problem.errors or []) == 20
    assert problem.detail.endswith("; and 197 more")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"source": "xx"}, "source"),
        ({"target": "xx"}, "target"),
        ({"target": ["de", "xx"]}, "target[1]"),
        ({"source": ""}, "source"),
        ({"source": "x" * 100_000}, "source"),
        ({"target": "../../etc/passwd"}, "target"),
    ],
)
def test_an_unknown_language_is_refused_and_the_known_ones_listed(
    client: TestClient, changes: dict[str, Any], field: str
) -> None:
    problem = refused(client, changes, "unknown-language")
    (error,) = problem.errors or []
    assert error.field == field
    assert error.allowed == ["ar", "de", "en", "pt", "zh"]
    assert "use one of ar, de, en, pt, zh" in problem.detail
    assert len(problem.detail) < 200  # however long the code is


def test_a_text_that_is_in_the_target_language_already(client: TestClient) -> None:
    """Unless both languages were named, and the same: then it is not translated but reworded."""
    answer = client.post("/translate/sentence", json={"text": "Der Hund schläft und rennt.", "target": "de"})
    assert "'de' is the language of text already" in checked(answer, 422, "invalid-request").detail
    answer = client.post("/translate/word", json={"word": "Hund", "source": "de", "target": ["en", "de"]})
    problem = checked(answer, 422, "invalid-request")
    assert problem.detail == "target 'de' is the language of word already: use one of en, pt, zh, ar"
    answer = client.post("/translate/word", json={"word": "schläft", "target": "de"})
    assert "'de' is the language of word already" in checked(answer, 422, "invalid-request").detail


def test_a_language_that_is_not_recognised(client: TestClient) -> None:
    answer = client.post("/translate/sentence", json={"text": ["A small dog runs.", "12345"], "target": "de"})
    problem = checked(answer, 422, "undetected-language")
    assert problem.detail == "text[1] has no letters to tell its language by: give source"
    assert problem.errors is not None
    assert problem.errors[0].candidates == []


def test_a_language_that_is_not_clear_comes_with_the_likely_ones(client: TestClient) -> None:
    answer = client.post("/translate/word", json={"word": "park", "target": "zh"})
    problem = checked(answer, 422, "undetected-language")
    assert problem.errors is not None
    candidates = problem.errors[0].candidates
    assert candidates is not None
    assert 2 <= len(candidates) <= 3
    assert {"de", "en"} & set(candidates)
    assert f"it may be {', '.join(candidates)}: give source" in problem.detail


def test_the_type_may_have_parameters_and_any_case(client: TestClient) -> None:
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert client.post("/translate/sentence", content=json.dumps(GOOD), headers=headers).status_code == 200


@pytest.mark.parametrize("declared", [str(limits.MAX_BODY_BYTES + 1), "9" * 5000, "0" * 5000 + "2"])
def test_a_body_that_is_too_long_by_its_header(client: TestClient, declared: str) -> None:
    headers = {"Content-Type": JSON, "Content-Length": declared}
    answer = client.post("/translate/sentence", content=b"{}", headers=headers)
    assert f"{limits.MAX_BODY_BYTES} bytes" in checked(answer, 413, "body-too-large").detail
    assert answer.headers["connection"] == "close"
    for unsaid in ("", "-2", "1_0"):  # what is no length says nothing
        answer = client.post(
            "/translate/sentence", content=b"{}", headers=headers | {"Content-Length": unsaid}
        )
        assert answer.status_code == 422


def test_a_body_that_is_too_long_as_it_streams(make_client: ClientFactory) -> None:
    client = make_client()

    def chunks() -> Iterator[bytes]:
        for _ in range(limits.MAX_BODY_BYTES // 10_000 + 1):
            yield b" " * 10_000

    headers = {"Content-Type": "application/json"}
    checked(client.post("/translate/sentence", content=chunks(), headers=headers), 413, "body-too-large")
    text = json.dumps(GOOD).encode()
    right = client.post("/translate/sentence", content=iter([text[:10], text[10:]]), headers=headers)
    assert right.status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/translate/sentence", "POST"),
        ("PUT", "/translate/word", "POST"),
        ("POST", "/languages", "GET"),
        ("DELETE", "/health/live", "GET"),
        ("POST", "/health/ready", "GET"),
    ],
)
def test_a_method_that_is_not_allowed(client: TestClient, method: str, path: str, allowed: str) -> None:
    answer = client.request(method, path)
    problem = checked(answer, 405, "method-not-allowed")
    assert answer.headers["allow"] == allowed
    assert problem.detail == f"{method} is not allowed: use {allowed}"


@pytest.mark.parametrize(
    "path", ["/nothing", "/languages/", "/web/app.js", "/../app.py", "/redoc", "/problems/none"]
)
def test_an_unknown_path(client: TestClient, path: str) -> None:
    checked(client.get(path), 404, "not-found")


def test_the_type_of_a_problem_leads_to_its_description(client: TestClient) -> None:
    kind = refused(client, {"k": 0}).type
    answer = client.get(kind)
    assert answer.status_code == 200
    assert answer.json()["type"] == kind


@pytest.mark.parametrize("path", ["/health/live", "/concordance", "/style.css", "/nothing"])
def test_a_long_query_is_refused(client: TestClient, path: str) -> None:
    assert client.get(f"{path}?{'a' * limits.MAX_QUERY_BYTES}").status_code != 400
    assert client.get(f"{path}?{'a' * (limits.MAX_QUERY_BYTES + 1)}").status_code == 400


@pytest.mark.parametrize("path", ["/translate/sentence", "/translate/word", "/translate", "/detect"])
def test_a_body_that_is_all_values_is_refused(client: TestClient, path: str) -> None:
    def status(values: int) -> int:
        body = b'{"text":["a"],"nothing":[%b]}' % b",".join([b"1"] * values)
        return client.post(path, content=body, headers={"Content-Type": "application/json"}).status_code

    # {, [, [ and the comma after the text; one comma fewer than there are values
    assert status(limits.MAX_BODY_MARKS - 3) in (400, 422)
    assert status(limits.MAX_BODY_MARKS - 2) == 413


def test_commas_of_a_text_are_no_values(client: TestClient) -> None:
    body = {"text": ["a dog, a cat, and " * 50] * 256, "source": "en", "target": "de"}
    assert client.post("/translate/sentence", json=body).status_code == 200
