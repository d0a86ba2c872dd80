"""Where words stand in the index, over HTTP. All sentences: tests/service/api/test_pictograms.py."""

import pytest
from starlette.testclient import TestClient


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


def test_what_the_index_holds_is_found_page_by_page(remembering: TestClient) -> None:
    asked = {"text": "the", "source": "en-US", "target": "DE", "count": 1}
    first = remembering.get("/concordance", params=asked).json()
    (sentence,) = first["results"]
    assert (sentence["text"], sentence["places"]) == ("The dog sleeps.", [[0, 3]])
    assert [one["text"] for one in sentence["translations"]["de"]] == ["Der Vertrag gilt."]
    rest = remembering.get("/concordance", params=asked | {"begin": first["next"]}).json()
    assert ([one["text"] for one in rest["results"]], rest["next"]) == (["The cat runs."], None)
