"""The native API: what it answers to requests that are right."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from index.answers.translator import Translator
from index.build.build_index import build_index
from index.confidence import PairQuality
from index.encoder.bundle import Bundle
from index.formats.registry import Source
from service import limits
from service.app import create_app
from service.settings import Settings
from tests.bundles import lexicon, sentences
from tests.files import jsonl

DOG = "A small dog runs on the beach."


def test_a_sentence_gets_its_translations_best_first(client: TestClient, translator: Translator) -> None:
    request = {"text": DOG, "source": "en", "target": ["de", "pt"], "k": 3, "min_confidence": 0.0}
    answer = client.post("/translate/sentence", json=request)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert (body["model"], body["index"]) == (translator.model, translator.version)
    (result,) = body["results"]
    assert (result["text"], result["source"]) == (DOG, "en")
    assert list(result["translations"]) == ["de", "pt"]
    for found in result["translations"].values():
        assert len(found) == 3
        scores = [one["score"] for one in found]
        assert scores == sorted(scores, reverse=True)
    best = result["translations"]["de"][0]
    expected = translator.sentences([DOG], "en", "de", 1)[0][0]
    assert best == {
        "text": expected.text,
        "score": round(expected.score, 4),
        "confidence": round(expected.confidence, 4),
        "id": expected.id,
        "match": "translation",
        "similarity": None,
        "original": None,
        "gloss": DOG,
        "penalties": [],
        "differs": {"question": [], "answer": []},
        "metadata": {"file": "de.txt"},
    }


def test_a_list_of_texts_gives_as_many_results_in_order(client: TestClient) -> None:
    texts = [f"A {word} dog runs on the beach." for word in ("small", "big", "small", "black")]
    answer = client.post("/translate/sentence", json={"text": texts, "source": "en", "target": "de"}).json()
    assert [result["text"] for result in answer["results"]] == texts
    assert answer["results"][0]["translations"] == answer["results"][2]["translations"]
    alone = client.post("/translate/sentence", json={"text": texts[1], "source": "en", "target": "de"}).json()
    assert alone["results"][0] == answer["results"][1]


def test_the_text_comes_back_as_it_was_sent_and_is_searched_cleaned(client: TestClient) -> None:
    sloppy = "  A small\tdog\u0000 runs  on the beach.\n"
    request = {"text": [sloppy, DOG], "source": "en", "target": "de"}
    first, second = client.post("/translate/sentence", json=request).json()["results"]
    assert first["text"] == sloppy
    assert first["translations"] == second["translations"]


def test_near_answers_come_where_asked_for(client: TestClient) -> None:
    """Whatever the request's own line."""
    request = {"text": DOG, "source": "en", "target": "de", "k": 5, "min_confidence": 0.0}

    def ask(**changes: object) -> list[dict[str, object]]:
        body = client.post("/translate/sentence", json=request | changes).json()
        answers: list[dict[str, object]] = body["results"][0]["translations"]["de"]
        return answers

    everything, least = ask(), ask()[0]["confidence"]
    assert ask(min_confidence=least) == everything[:1]
    # Nothing was fitted for this index, so no answer is near enough to be shown.
    assert ask(min_confidence=least, include=["near"]) == everything[:1]
    assert client.post("/translate/sentence", json=request | {"include": ["far"]}).status_code == 422


def test_a_target_named_twice_is_answered_twice_and_codes_come_back_as_they_were_sent(
    client: TestClient,
) -> None:
    request = {"text": DOG, "source": "EN", "target": ["de_DE", "DE", "de", "iw"]}
    refused = client.post("/translate/sentence", json=request)
    assert [error["field"] for error in refused.json()["errors"]] == ["target[3]"]
    request["target"] = ["de_DE", "DE", "de"]
    (result,) = client.post("/translate/sentence", json=request).json()["results"]
    assert result["source"] == "EN"
    assert list(result["translations"]) == ["de_DE", "DE", "de"]
    assert len({str(answers) for answers in result["translations"].values()}) == 1
    assert result["translations"]["de_DE"][0]["id"].startswith("de:")


def test_the_source_is_detected_for_each_text(client: TestClient) -> None:
    texts = [sentences(language)[7] for language in ("en", "zh", "ar", "de")]
    answer = client.post("/translate/sentence", json={"text": texts, "target": ["de", "en"]}).json()
    assert [result["source"] for result in answer["results"]] == ["en", "zh", "ar", "de"]
    # A text is not translated into its own language.
    targets = [" ".join(result["translations"]) for result in answer["results"]]
    assert targets == ["de", "de en", "de en", "en"]


def test_a_text_in_the_target_language_gets_what_means_the_same(client: TestClient) -> None:
    text = sentences("de")[7]
    request = {"text": text.upper(), "source": "de", "target": ["de"]}
    (result,) = client.post("/translate/sentence", json=request).json()["results"]
    (answer,) = result["translations"]["de"]
    assert (result["source"], answer["text"], answer["match"]) == ("de", text, "memory")
    assert (answer["penalties"], answer["original"]) == (["case"], None)


def test_a_word_gets_its_translations(client: TestClient) -> None:
    concepts = lexicon()[:8]
    words = [concept["en"] for concept in concepts]
    request = {"word": words, "source": "en", "target": ["de", "ar"], "k": 3}
    body = client.post("/translate/word", json=request).json()
    for result, concept in zip(body["results"], concepts, strict=True):
        assert (result["word"], result["source"]) == (concept["en"], "en")
        for target, found in result["translations"].items():
            assert concept[target] in [one["text"] for one in found]
            assert found[0]["id"] == f"{target}:word:{found[0]['text']}"


OWN_FIELDS = {
    "memory": {"source": "forged", "id": "en:1", "similarity": 1},
    "similarity": 1,
    "match": "exact",
    "original": {"text": "forged", "id": "en:1"},
    "in_vocabulary": True,
    "confidence": 1,
}


def test_no_column_of_a_corpus_poses_as_the_service(bundle: Bundle, tmp_path: Path) -> None:
    """Although columns have the names of what the service says."""
    sources = [
        Source(jsonl(tmp_path / f"{code}.jsonl", [{"text": text, **OWN_FIELDS}]), code)
        for code, text in {"en": "The dog sleeps.", "de": "Der Vertrag gilt."}.items()
    ]
    build_index(bundle, sources, tmp_path / "index")
    with TestClient(create_app(Settings(index=tmp_path / "index"))) as posing:
        request = {"text": "A bird.", "source": "en", "target": "de", "min_confidence": 0}
        (result,) = posing.post("/translate/sentence", json=request).json()["results"]
        (answer,) = result["translations"]["de"]
        assert (answer["match"], answer["similarity"], answer["original"]) == ("translation", None, None)
        assert answer["confidence"] < 1
        assert answer["metadata"] == {"file": "de.jsonl", **OWN_FIELDS}
        (result,) = posing.post("/translate/sentence", json=request | {"min_confidence": 1}).json()["results"]
        assert result["translations"] == {"de": []}
        text = posing.post("/translate", json={"q": "A bird.", "source": "en", "target": "de"}).json()
        assert "error" not in text


def test_the_languages_are_one_array(client: TestClient, translator: Translator) -> None:
    body = client.get("/languages").json()
    assert [one["code"] for one in body] == ["en", "de", "pt", "zh", "ar"]
    assert body[0] == {
        "code": "en",
        "name": "English",
        "targets": ["de", "pt", "zh", "ar"],
        "sentences": 200,
        "words": next(iter(translator.languages)).words,
        "quality": {},
    }


def test_the_quality_of_a_pair_is_what_its_index_measured(index_dir: Path) -> None:
    opened = Translator.open(index_dir)
    measured = {
        "en-de": PairQuality(r1=0.8, r10=0.9, n=40, ece=0.02),
        "de-en": PairQuality(r1=0.5, r10=1, n=9),
    }
    manifest = opened.manifest.model_copy(update={"quality": measured})
    opened = Translator(manifest, opened.encoder, opened.sentence_indexes, opened.word_indexes)
    with TestClient(create_app(Settings(), opened)) as client:
        english, german, *others = client.get("/languages").json()
    assert english["quality"] == {"de": {"r1": 0.8, "r10": 0.9, "n": 40, "ece": 0.02}}
    assert german["quality"] == {"en": {"r1": 0.5, "r10": 1, "n": 9, "ece": None}}
    assert all(one["quality"] == {} for one in others)


def test_each_sentence_of_a_text_is_answered_by_itself(remembering: TestClient) -> None:
    request = {"text": ["The dog sleeps. The cat runs!", "A bird."], "source": "en", "target": "de"}
    several, single = remembering.post("/translate/sentence", json=request).json()["results"]
    assert [(part["text"], part["translations"]["de"][0]["text"]) for part in several["sentences"]] == [
        ("The dog sleeps.", "Der Vertrag gilt."),
        ("The cat runs!", "Bitte warten!"),
    ]
    assert [part["translations"]["de"][0]["match"] for part in several["sentences"]] == ["exact", "memory"]
    assert several["translations"].keys() == {"de"}
    assert "sentences" not in single


def test_too_many_sentences_are_refused(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def lookups() -> list[str]:
        return [line for line in client.get("/metrics").text.splitlines() if "cache_lookups_total" in line]

    monkeypatch.setattr(limits, "MAX_ANSWERS", 20)
    before = lookups()
    answer = client.post("/translate/sentence", json={"text": "A dog. " * 21, "source": "en", "target": "de"})
    assert answer.status_code == 422
    assert "21 answers to 21 sentences, the limit is 20" in answer.json()["detail"]
    assert lookups() == before  # nothing was answered before
