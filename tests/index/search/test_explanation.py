"""Explanations: the parts add up to the score, and agreement is what searching again finds."""

from pathlib import Path

import numpy as np
import pytest

from index.build.build_index import build_index
from index.encoder.bundle import Bundle
from index.search.translator import Kind, Translator
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS
from tests.bundles import make_corpus

DOG = "A small dog runs on the beach."


@pytest.fixture(scope="module")
def translator(index_dir: Path) -> Translator:
    return Translator.open(index_dir)


@pytest.mark.parametrize(("kind", "text"), [("sentence", DOG), ("word", "dog")])
def test_the_parts_add_up_to_the_score_that_ranked(translator: Translator, kind: Kind, text: str) -> None:
    search = translator.sentences if kind == "sentence" else translator.words
    (matches,) = search([text], "en", "de", 5)
    found = translator.explain(kind, text, "en", {"de": [match.id for match in matches]})["de"]
    for match, why in zip(matches, found, strict=True):
        assert why.score == pytest.approx(match.score, abs=1e-5)
        assert why.cosine == pytest.approx(match.cosine, abs=1e-5)
        assert 2 * why.cosine - why.question_mean - why.answer_mean == pytest.approx(why.score, abs=1e-5)
    if kind == "sentence":  # words are ordered by confidence
        assert found[0].margin == pytest.approx(matches[0].score - matches[1].score, abs=1e-5)
    assert found[3].margin == pytest.approx(matches[3].score - matches[0].score, abs=1e-5)


def test_a_neighbourhood_mean_is_that_of_the_nearest(translator: Translator) -> None:
    (match,) = translator.sentences([DOG], "en", "de", 1)[0]
    (why,) = translator.explain("sentence", DOG, "en", {"de": [match.id]})["de"]
    index = translator._sentences["de"]
    cosines = np.sort(index.vectors.reconstruct(range(len(index))) @ translator.encode([DOG])[0])
    assert why.question_mean == pytest.approx(cosines[-CSLS_NEIGHBOURS:].mean(), abs=1e-5)
    assert why.candidates == 200


def test_agreement_is_what_further_searches_find(translator: Translator) -> None:
    (match,) = translator.sentences([DOG], "en", "de", 1)[0]
    (why,) = translator.explain("sentence", DOG, "en", {"de": [match.id]})["de"]
    (back,) = translator.sentences([match.text], "de", "en", 1)[0]
    assert why.back is not None
    assert (why.back.text, why.back.id) == (back.text, back.id)
    vectors = translator.encode([DOG, back.text])
    assert why.back.cosine == pytest.approx(float(vectors[0] @ vectors[1]), abs=1e-5)
    assert [detour.language for detour in why.via] == ["pt", "zh", "ar"]
    for detour in why.via:
        (stop,) = translator.sentences([DOG], "en", detour.language, 1)[0]
        assert (detour.text, detour.id) == (stop.text, stop.id)
        onward = [one.id for one in translator.sentences([stop.text], detour.language, "de", 10)[0]]
        assert detour.place == onward.index(match.id) + 1


def test_a_far_answer_is_not_agreed_with(translator: Translator) -> None:
    far = translator.sentences([DOG], "en", "de", 100)[0][-1]
    (why,) = translator.explain("sentence", DOG, "en", {"de": [far.id]})["de"]
    assert [detour.place for detour in why.via] == [None] * 3
    assert why.margin < 0


def test_a_language_without_sentences_has_no_way_back(bundle: Bundle, tmp_path: Path) -> None:
    build_index(bundle, make_corpus(tmp_path / "corpus", ("de", "en"), 30), tmp_path / "index")
    translator = Translator.open(tmp_path / "index")
    (match,) = translator.sentences(["O cão preto corre."], "pt", "de", 1)[0]
    (why,) = translator.explain("sentence", "O cão preto corre.", "pt", {"de": [match.id]})["de"]
    assert why.back is None
    assert [detour.language for detour in why.via] == ["en"]


def test_an_id_that_is_not_there(translator: Translator) -> None:
    assert translator.explain("sentence", DOG, "en", {"de": []})["de"] == []
    for kind, own in (("sentence", "de:9999"), ("word", "de:word:dog"), ("word", "en:word:dog")):
        with pytest.raises(ValueError, match=own):
            translator.explain(kind, DOG, "en", {"de": [own]})["de"]  # type: ignore[arg-type]
