"""amaGama's protocol, by the requests that Weblate's tmserver machinery and amaGama's own page send."""

from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from index.answers.translator import Translator
from service import limits
from service.http.problems import MEDIA_TYPE
from tests.bundles import sentences
from tests.service.conftest import ClientFactory

DOG = "A small dog runs on the beach."


def suggestions(client: TestClient, text: str = DOG, pair: str = "en/de", **options: Any) -> Any:  # noqa: ANN401
    answer = client.get(f"/tmserver/{pair}/unit/{quote(text, safe='')}", params=options)
    assert answer.status_code == 200, answer.text
    return answer.json()


def weblate(client: TestClient, source: str, target: str, text: str, threshold: int = 75) -> list[str]:
    """What Weblate's machinery does, by its source: codes from /languages/, the text cut and quoted."""
    languages = client.get("/tmserver/languages/").json()
    pairs = {(a, b) for a in languages["sourceLanguages"] for b in languages["targetLanguages"]}
    codes = tuple(code.replace("-", "_").lower() for code in (source, target))
    assert codes in pairs
    found = suggestions(client, text[:500].replace("\r", " "), "/".join(codes))
    return [line["target"] for line in found if line["source"] and int(line["quality"]) >= threshold]


def test_weblate_gets_its_suggestions(client: TestClient, translator: Translator) -> None:
    expected = translator.sentences([DOG], "en", "de", 1)[0][0].text
    assert weblate(client, "en", "de", DOG)[0] == expected
    assert weblate(client, "zh", "AR", sentences("zh")[0], threshold=0)


def test_a_suggestion_is_an_answer_in_percent(client: TestClient) -> None:
    (first, *_) = suggestions(client)
    request = {"text": DOG, "source": "en", "target": "de"}
    (result,) = client.post("/translate/sentence", json=request).json()["results"]
    (answer,) = result["translations"]["de"]
    assert first == {
        "source": DOG,
        "target": answer["text"],
        "quality": pytest.approx(100 * answer["confidence"]),
        "rank": answer["score"],
    }


def test_its_options(
    make_client: ClientFactory, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    chances = (0.95, 0.9, 0.85, 0.8, 0.75, 0.705, 0.5, 0.31, 0.2)
    (real,) = translator.sentences([DOG], "en", "de", 1)[0]
    answers = tuple(real.model_copy(update={"confidence": chance}) for chance in chances)
    monkeypatch.setattr(translator, "answer", lambda asked, *_: [answers[: query.k] for query in asked])
    monkeypatch.setattr(limits, "MAX_K", 8)
    client = make_client()

    def qualities(**options: object) -> list[float]:
        return [one["quality"] for one in suggestions(client, **options)]

    assert qualities() == [95, 90, 85, 80, 75]  # five, of at least 70 %
    assert qualities(max_candidates=50) == [95, 90, 85, 80, 75, 70.5]
    assert qualities(max_candidates=2) == qualities(max_candidates="2") == [95, 90]
    least = qualities(min_similarity=0, max_candidates=50)
    assert least == [95, 90, 85, 80, 75, 70.5, 50, 31]  # never under 30
    assert qualities(min_similarity=90) == [95, 90]
    assert qualities(min_similarity=101) == []
    for nonsense in ("many", "-1", "²", "9" * 30, ""):
        assert qualities(min_similarity=nonsense, max_candidates=nonsense) == qualities()


def test_a_translation_of_the_corpus_is_quoted_with_its_source(remembering: TestClient) -> None:
    (first, *_) = suggestions(remembering, "A dog sleeps.")
    assert (first["source"], first["target"]) == ("The dog sleeps.", "Der Vertrag gilt.")
    assert first["quality"] == pytest.approx(100 * (1 - 3 / 14), abs=0.1)
    assert suggestions(remembering, "The dog sleeps.", min_similarity=100)[0]["quality"] == 100
    assert suggestions(remembering, "A dog sleeps.", min_similarity=95) == []


@pytest.mark.parametrize("pair", ["en/xx", "xx/de", "en/en"])
def test_what_is_not_here_has_no_suggestions(client: TestClient, pair: str) -> None:
    assert suggestions(client, pair=pair) == []


def test_other_spellings_of_a_language(client: TestClient) -> None:
    assert suggestions(client, pair="en_GB/de_at") == suggestions(client)


@pytest.mark.parametrize("text", ["a/b", "a?b#c", "50 % of it", "größer", "狗", "?source=x"])
def test_any_text_can_be_asked_for(client: TestClient, text: str) -> None:
    for one in suggestions(client, text, min_similarity=30):
        assert one["source"] == text


def test_the_text_as_an_option(client: TestClient) -> None:
    answer = client.get("/tmserver/en/de/unit/", params={"source": DOG})
    assert answer.json() == suggestions(client)
    assert client.get("/tmserver/en/de/unit/").json() == []
    assert client.get("/tmserver/en/de/unit/", params={"source": "a\nb\n"}).status_code == 200
    assert client.get("/tmserver/en/de/unit/a%0Ab%0A").status_code == 200


def test_a_text_that_is_too_long_is_a_problem(make_client: ClientFactory) -> None:
    answer = make_client(max_characters=10).get(f"/tmserver/en/de/unit/{DOG}")
    assert (answer.status_code, answer.headers["content-type"]) == (422, MEDIA_TYPE)
    assert "text has 30 characters, the limit is 10" in answer.json()["detail"]
