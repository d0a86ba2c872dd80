"""Where words stand in the index, over HTTP: what is refused. What is found: tests/service/test_client.py."""

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
