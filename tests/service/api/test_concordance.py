"""Where words stand in the index, over HTTP."""

import pytest
from starlette.testclient import TestClient


def test_a_word_is_found_with_its_translations(remembering: TestClient) -> None:
    answer = remembering.get(
        "/concordance", params={"text": "the", "source": "en", "target": "de", "count": 1}
    )
    assert answer.status_code == 200
    page = answer.json()
    (first,) = page["results"]
    assert (first["text"], first["id"], first["places"]) == ("The dog sleeps.", "en:1", [[0, 3]])
    assert first["translations"] == {"de": [{"text": "Der Vertrag gilt.", "id": "de:1"}]}
    more = {"text": "the", "source": "en", "begin": page["next"]}
    page = remembering.get("/concordance", params=more).json()
    assert [found["text"] for found in page["results"]] == ["The cat runs."]
    assert page["next"] is None


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"text": "", "source": "en"}, "text"),
        ({"text": " ", "source": "en"}, "text"),
        ({"text": "x" * 201, "source": "en"}, "text"),
        ({"text": "a", "source": "xx"}, "source"),
        ({"text": "a", "source": "en", "target": ["de", "xx"]}, "target"),
        ({"text": "a", "source": "en", "begin": "-1"}, "begin"),
        ({"text": "a", "source": "en", "count": "101"}, "count"),
    ],
)
def test_invalid_requests_are_reported(remembering: TestClient, given: dict[str, str], field: str) -> None:
    answer = remembering.get("/concordance", params=given)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert field in {error["field"] for error in answer.json()["errors"]}
