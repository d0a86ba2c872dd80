"""What a head declares of its body's length, and bodies and queries that are refused by their size."""

import pytest
from starlette.testclient import TestClient

from service import limits
from service.http.bounds import declared_length


@pytest.mark.parametrize(
    ("value", "length"),
    [
        (b"0", 0),
        (b"42", 42),
        (b"0" * 30 + b"42", 42),
        (b"", None),
        (b"-1", None),
        (b"+1", None),
        (b"1_0", None),
    ],
)
def test_the_length_that_a_head_declares(value: bytes, length: int | None) -> None:
    assert declared_length([(b"host", b"a"), (b"content-length", value)]) == length
    assert declared_length([(b"host", b"a")]) is None


@pytest.mark.parametrize("digits", [18, 19, 10_000])
def test_a_length_of_many_digits_stays_a_large_one(digits: int) -> None:
    for zeros in (0, 1, 20):
        found = declared_length([(b"content-length", b"0" * zeros + b"9" * digits)])
        assert found is not None
        assert found >= 10**17


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
