"""A language that the encoder has never seen: a target as good as any, and no source."""

from pathlib import Path

import pytest

from index.answers.request import SentenceRequest
from index.answers.respond import answer
from index.answers.translator import Translator
from index.build.build_index import build_index
from index.encoder.text_encoder import TextEncoder
from index.errors import RequestError
from index.formats.registry import Source
from index.storage.options import Cleaning
from tests.conftest import Says
from tests.files import index_of_table, tsv

PHRASES = {
    "The shop is closed on Monday.": ("Das Geschäft ist am Montag geschlossen.", "Mundan ta bo zura."),
    "Where does it hurt?": ("Wo tut es weh?", "Ke noda ta?"),
    "Take one tablet before meals.": ("Nehmen Sie eine Tablette vor dem Essen.", "Li tabi um keno zan."),
    "Please wait outside.": ("Bitte warten Sie draußen.", "Pali olo vano."),
}


@pytest.fixture(scope="module")
def translator(
    open_encoder: TextEncoder, few_probes: None, tmp_path_factory: pytest.TempPathFactory
) -> Translator:
    rows = [("en", "de", "qaa"), *((en, *others) for en, others in PHRASES.items())]
    path = tmp_path_factory.mktemp("unknown") / "phrases.tsv"
    return Translator.open(index_of_table(open_encoder.bundle, path, rows, cleaning=Cleaning(("near",))))


@pytest.mark.parametrize("phrase", PHRASES)
def test_what_was_approved_comes_back_exactly(translator: Translator, phrase: str) -> None:
    german, unknown = PHRASES[phrase]
    for source, text in (("en", phrase), ("de", german)):
        (first, *_) = translator.sentences([text], source, "qaa", 3)[0]
        assert (first.text, first.match, first.confidence, first.gloss) == (unknown, "exact", 1, text)


def test_a_language_without_sentences_reaches_it(translator: Translator) -> None:
    questions = {
        "Dove fa male?": "Where does it hurt?",
        "Il negozio è chiuso lunedì.": "The shop is closed on Monday.",
    }
    for question, phrase in questions.items():
        (first,) = translator.sentences([question], "it", "qaa")[0]
        assert (first.text, first.match) == (PHRASES[phrase][1], "translation")
    for other in ("Il negozio è aperto lunedì.", "Due cani giocano nella neve."):
        assert {found.match for found in translator.sentences([other], "it", "qaa", 4)[0]} == {"near"}


def test_it_is_reached_through_the_language_that_is_aligned_with_it(
    open_encoder: TextEncoder, few_probes: None, tmp_path: Path
) -> None:
    """And not through one that is aligned with another."""
    first = tsv(tmp_path / "first.tsv", [("de", "qaa"), *PHRASES.values()])
    second = tsv(tmp_path / "second.tsv", [("ar", "en"), ("أين محطة القطار؟", "Where is the station?")])
    sources = [Source(second), Source(first)]
    build_index(open_encoder.bundle, sources, tmp_path / "index", cleaning=Cleaning(("near",)))
    for question, found in (
        ("Dove fa male?", "Ke noda ta?"),
        ("Il negozio è chiuso lunedì.", "Mundan ta bo zura."),
    ):
        (answer,) = Translator.open(tmp_path / "index").sentences([question], "it", "qaa")[0]
        assert answer.text == found


def test_a_paraphrase_reaches_it_and_an_opposite_does_not(translator: Translator) -> None:
    (first,) = translator.sentences(["Could you please wait outside?"], "en", "qaa")[0]
    assert first.text == PHRASES["Please wait outside."][1]
    assert first.original is not None
    assert first.original.text == "Please wait outside."
    assert first.match in ("memory", "paraphrase")
    for other in ("The shop is open on Monday.", "Take one tablet after meals."):
        assert {found.match for found in translator.sentences([other], "en", "qaa", 4)[0]} <= {"near"}


@pytest.mark.parametrize(
    ("source", "question", "number"),
    [
        ("de", "Nehmen Sie 2 Tabletten vor dem Essen.", "2"),
        ("en", "Where does it hurt on day three?", "three"),
    ],
)
def test_a_number_that_what_is_near_has_not_is_named(
    translator: Translator, source: str, question: str, number: str
) -> None:
    (first, *_) = translator.sentences([question], source, "qaa", 3)[0]
    assert first.match == "near"
    assert number in first.differs.question


def test_what_the_corpus_does_not_say_has_no_answer(translator: Translator) -> None:
    (found,) = translator.sentences(["The quarterly figures were published."], "en", "qaa", 4)
    assert {answer.match for answer in found} <= {"near"}
    assert translator.words(["shop"], "en", "qaa") == [()]


def test_it_is_no_source_and_says_so(translator: Translator) -> None:
    with pytest.raises(RequestError, match="qaa can only be a target"):
        translator.sentences(["Ke noda ta?"], "qaa", "en")
    request = SentenceRequest(text=["Ke noda ta?"], source="qaa", target=["en"])
    with pytest.raises(RequestError, match="the encoder does not know it"):
        answer(translator, request)
    assert {info.code: info.targets for info in translator.languages}["qaa"] == ()


def test_its_phrases_alone_can_be_corrected(
    open_encoder: TextEncoder, few_probes: None, tmp_path: Path, says: Says
) -> None:
    rows = [("en", "de", "qaa"), *((en, *others) for en, others in PHRASES.items())]
    index = index_of_table(open_encoder.bundle, tmp_path / "phrases.tsv", rows, cleaning=Cleaning(("near",)))
    corrected = tsv(tmp_path / "x.tsv", [("id", "text", "language"), ("qaa:2", "Ke nodi ta?", "qaa")])
    assert "looks like" not in says("index", "replace", str(index), f"--corpus={corrected}").err
    translator = Translator.open(index)
    (first, *_) = translator.sentences(["Where does it hurt?"], "en", "qaa")[0]
    assert (first.text, first.match) == ("Ke nodi ta?", "exact")
    assert translator.sentences(["Please wait outside."], "en", "qaa")[0][0].text == "Pali olo vano."
