"""Where words stand in the index, all its sentences, and what the encoder sees in them, over HTTP."""

import pytest
from starlette.testclient import TestClient

from index.teaching.suggestions import is_sign
from tests.bundles import sentences


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


DOG = "🐕\ufe0f"


def test_pictograms_are_given_where_they_are_asked_for(client: TestClient) -> None:
    asked = {"text": "A small dog runs on the beach.", "source": "en", "target": ["de"], "min_confidence": 0}
    (plain,) = client.post("/translate/sentence", json=asked).json()["results"]
    assert "pictograms" not in plain
    assert "pictograms" not in plain["translations"]["de"][0]
    (result,) = client.post("/translate/sentence", json=asked | {"include": ["pictograms"]}).json()["results"]
    assert DOG in {near["emoji"] for near in result["pictograms"]}
    (answer,) = result["translations"]["de"]
    assert DOG in {near["emoji"] for near in answer.pop("pictograms")}
    assert [answer] == plain["translations"]["de"]
    cosines = [near["cosine"] for near in result["pictograms"]]
    assert cosines == sorted(cosines, reverse=True)


def test_a_word_has_its_own(client: TestClient) -> None:
    asked = {"word": "Hund", "source": "de", "target": "en", "include": ["pictograms"]}
    (result,) = client.post("/translate/word", json=asked).json()["results"]
    assert result["pictograms"][0]["emoji"] == DOG


def test_what_nothing_drawn_is_near_to_has_none(client: TestClient) -> None:
    asked = {"text": "Quarterly figures.", "source": "en", "target": "de", "include": ["pictograms"]}
    (result,) = client.post("/translate/sentence", json=asked).json()["results"]
    assert result["pictograms"] == []


def test_all_sentences_are_listed_page_by_page(client: TestClient) -> None:
    listed: list[str] = []
    begin: int | None = 0
    while begin is not None:
        page = client.get("/concordance", params={"source": "de", "count": 70, "begin": begin}).json()
        assert page["text"] is None
        assert all(found["places"] == [] for found in page["results"])
        listed += [found["text"] for found in page["results"]]
        begin = page["next"]
    assert len(listed) == len(set(listed)) == 200
    assert set(listed) <= set(sentences("de"))


SIGNS = ["1f201", "1f562", "1f197", "2196", "39-20e3", "1f523"]
SIGNS += ["23e9", "1f519", "1f7e3", "1f3fd", "2666", "264c"]


@pytest.mark.parametrize("code", SIGNS)
def test_signs_are_not_asked_for_when_teaching(code: str) -> None:
    assert is_sign(code)
    assert not any(map(is_sign, ("1f415", "1f468-200d-1f33e", "2764", "23f0")))
