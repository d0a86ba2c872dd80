"""Translator: what the service and the command use, on a real index."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from index.answers.answer import DIGITS
from index.answers.request import Query
from index.answers.translator import Translator
from index.build.build_index import build_index
from index.confidence.models import Model, Models
from index.encoder.bundle import Bundle, publish_bundle, staging_folder, words_file
from index.encoder.word_list import WordList, write_word_list
from index.errors import RequestError
from index.formats.registry import Source
from tests.bundles import LANGUAGES, lexicon, make_bundle, make_corpus, sentences

DOG = "🐕\ufe0f"


@pytest.fixture(scope="module")
def partial(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Translator:
    """An index of German and English only; the encoder knows five languages."""
    folder = tmp_path_factory.mktemp("partial")
    build_index(bundle, make_corpus(folder / "corpus", ("de", "en"), 60), folder / "index")
    return Translator.open(folder / "index")


def test_a_version_with_the_same_encoder_does_not_open_it_again(
    translator: Translator, partial: Translator, index_dir: Path, tmp_path: Path
) -> None:
    assert Translator.open(index_dir, like=partial).encoder is partial.encoder
    build_index(make_bundle(tmp_path / "b", dimension=8), make_corpus(tmp_path, ("de",), 9), tmp_path / "i")
    other = Translator.open(tmp_path / "i", like=partial).encoder
    assert (other.dimension, partial.encoder.dimension) == (8, translator.encoder.dimension)


@pytest.mark.parametrize("source", LANGUAGES)
@pytest.mark.parametrize("target", LANGUAGES)
def test_sentences_are_translated_between_all_languages(
    translator: Translator, index_dir: Path, source: str, target: str
) -> None:
    files = (index_dir.parent / "corpus" / f"{code}.txt" for code in (source, target))
    texts, wanted = (file.read_text("utf-8").splitlines() for file in files)
    found = translator.sentences(texts, source, target)
    assert np.mean([matches[0].text == line for matches, line in zip(found, wanted, strict=True)]) > 0.9


def test_a_folder_may_be_named_by_a_string(index_dir: Path, translator: Translator) -> None:
    assert Translator.open(str(index_dir)).version == translator.version


def test_a_sentence_of_its_own_language_means_the_same(bundle: Bundle, tmp_path: Path) -> None:
    """Of an index of one language, too; its text is the index's, whatever the numbers of the question."""
    lines = ["A dog runs on the snow.", "The cat sleeps.", "2 black dogs run on the beach."]
    (tmp_path / "en.txt").write_text("\n".join(lines), "utf-8")
    build_index(bundle, [Source(tmp_path / "en.txt", "en")], tmp_path / "index")
    alone = Translator.open(tmp_path / "index")
    (very,), (alike,), (other,) = alone.sentences(
        ["The cat sleeps.", "A dog runs on the snow", "3 black dogs run on the beach."], "en", "en"
    )
    assert (very.text, very.match, very.confidence) == ("The cat sleeps.", "exact", 1.0)
    assert (very.original, very.gloss) == (None, None)  # it is no translation of another
    assert (alike.text, alike.match, alike.penalties) == (lines[0], "memory", ("punctuation",))
    assert (other.text, other.match) == (lines[2], "near")
    with pytest.raises(RequestError, match="target 'en' is the language of text already: add sentences in"):
        alone.words(["dog"], "en", "en")


def test_what_a_word_means_is_seen_in_it(bundle: Bundle, tmp_path: Path) -> None:
    """Whatever its spelling says: the pictures of a word are those of its translations, too."""
    with staging_folder(tmp_path / "bundle", bundle.folder) as staging:
        write_word_list(WordList({"qqxq": 9}, {"qqxq": {"dog": 1.0}}), staging / words_file("de"))
        read = publish_bundle(staging, tmp_path / "bundle", bundle.manifest)
    build_index(read, make_corpus(tmp_path / "corpus", ("de", "en"), 20), tmp_path / "index")
    word, english, sentence = (
        {pictogram.emoji for pictogram in row}
        for row in Translator.open(tmp_path / "index").pictograms_of(
            [("word", "de", "Qqxq"), ("word", "en", "qqxq"), ("sentence", "de", "qqxq")]
        )
    )
    assert DOG in word - english - sentence


@pytest.mark.parametrize(("source", "target"), [("en", "de"), ("ar", "pt"), ("zh", "en")])
def test_words_are_translated(translator: Translator, source: str, target: str) -> None:
    pairs = [(concept[source], concept[target]) for concept in lexicon() if concept["en"] != "woman"]
    found = translator.words([word for word, _ in pairs], source, target)
    assert np.mean([matches[0].text == word for matches, (_, word) in zip(found, pairs, strict=True)]) > 0.85


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_batch_equals_its_parts(translator: Translator, data: st.DataObject) -> None:
    texts = data.draw(
        st.lists(st.sampled_from(sentences("en")) | st.text(max_size=30), min_size=1, max_size=20)
    )
    for text, matches in zip(texts, translator.sentences(texts, "en", "de", k=2), strict=True):
        for one, other in zip(translator.sentences([text], "en", "de", k=2)[0], matches, strict=True):
            # Rounded to four places, either way: 1e-4 apart at most, counted whole.
            for value, other_value in ((one.score, other.score), (one.confidence, other.confidence)):
                assert abs(round(value * 10**DIGITS) - round(other_value * 10**DIGITS)) <= 1


@pytest.mark.parametrize("k", [1, 2, 7])
def test_answers_do_not_depend_on_how_many_others_ask_for(translator: Translator, k: int) -> None:
    query = Query("sentence", "The BLACK dog runs on the snow!", "en", "de", k)
    assert translator.answer([query, query._replace(k=40)])[0] == translator.answer([query])[0]


def test_a_language_of_the_encoder_alone_can_be_a_source(partial: Translator) -> None:
    source, target = sentences("pt")[::24][:60], sentences("de")[::24][:60]
    found = partial.sentences(source, "pt", "de")
    assert np.mean([matches[0].text == line for matches, line in zip(found, target, strict=True)]) > 0.8
    (word,) = partial.words(["cão"], "pt", "de")[0]
    assert word.text == "hund"
    assert word.in_vocabulary is False


def test_a_word_may_have_an_article(translator: Translator) -> None:
    plain, german = translator.words(["dog"], "en", "de"), translator.words(["Hund"], "de", "en")
    assert translator.words(["the dog", "A Dog"], "en", "de") == plain * 2
    assert translator.words(["der Hund", "einen Hund"], "de", "en") == german * 2
    assert translator.words(["no dog"], "en", "de") != plain


def test_words_outside_the_vocabulary_are_answered_by_their_parts(translator: Translator) -> None:
    known, unknown = translator.words(["dog", "Dogs"], "en", "de")
    assert known[0].text == unknown[0].text == "hund"
    assert known[0].in_vocabulary is True
    assert unknown[0].in_vocabulary is False
    assert known[0].id == "de:word:hund"


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("fr", "de", "source 'fr' is not a language of this index: use one of ar, de, en, pt, zh"),
        ("en", "fr", "target 'fr' is not a language of this index: use one of de, en$"),
        ("en", "pt", "target 'pt' cannot be reached from English: use one of de"),
        ("de", "de", "target 'de' is the language of text already: use one of en"),
        ("../de", "en", "source '../de' is not a language of this index"),
    ],
)
def test_unknown_languages_are_refused_and_the_known_ones_listed(
    partial: Translator, source: str, target: str, message: str
) -> None:
    for search in (partial.sentences, partial.words) if source != target else (partial.words,):
        with pytest.raises(RequestError, match=message):
            search(["x"], source, target)


def test_sentences_are_detected(translator: Translator) -> None:
    right = [translator.detect(text) == code for code in LANGUAGES for text in sentences(code)[::100]]
    assert np.mean(right) > 0.95


@pytest.mark.parametrize(
    ("word", "language"), [("dog", "en"), ("HUND", "de"), ("cão", "pt"), ("狗", "zh"), ("كلب", "ar")]
)
def test_words_are_detected(translator: Translator, word: str, language: str) -> None:
    assert translator.detect(word, kind="word") == language


@pytest.mark.parametrize("text", ["", "12345", "собака", "☃", "park"])
def test_a_text_that_could_be_in_any_language_is_not_guessed(translator: Translator, text: str) -> None:
    assert translator.detect(text) is None


def test_the_calibration_of_the_bundle_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are no scenes to ask."""
    monkeypatch.setattr("index.build.probes.PROBE_FOLDER", tmp_path)
    sure = Model(weights={"score": 0.0}, bias=100.0, n=10)
    bundle = make_bundle(tmp_path / "b", calibration=Models(sentence=sure, paraphrase=sure, word=sure))
    build_index(bundle, make_corpus(tmp_path / "c", ("de", "en"), 20), tmp_path / "i")
    translator = Translator.open(tmp_path / "i")
    assert (translator.confidence.source, translator.confidence.n) == ("encoder", 10)
    assert translator.sentences([translator.sentence_indexes["en"].text(0)], "en", "de")[0][0].confidence == 1


def test_an_index_is_self_contained(tmp_path: Path) -> None:
    build_index(make_bundle(tmp_path / "b"), make_corpus(tmp_path / "c", ("de", "en"), 20), tmp_path / "i")
    (tmp_path / "b").rename(tmp_path / "gone")
    (tmp_path / "c").rename(tmp_path / "gone too")
    (tmp_path / "i").rename(tmp_path / "moved")
    assert Translator.open(tmp_path / "moved").sentences(["a dog"], "en", "de")[0]


GERMAN = ["Hund und Katze spielen.", "Ein Hund rennt.", "Der große Hund schläft.", "Große Hunde rennen."]
ENGLISH = ["A dog and a cat play.", "A dog runs.", "The big dog sleeps.", "Big dogs run fast."]


def test_words_have_the_form_and_the_sentences_of_the_corpus(bundle: Bundle, tmp_path: Path) -> None:
    for code, lines in (("de", GERMAN), ("en", ENGLISH)):
        (tmp_path / f"{code}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    build_index(bundle, {code: tmp_path / f"{code}.txt" for code in ("de", "en")}, tmp_path / "index")
    translator = Translator.open(tmp_path / "index")
    answers = {match.id: match for match in translator.words(["dog"], "en", "de", 1000)[0]}
    dog, big = answers["de:word:hund"], answers["de:word:große"]
    assert dog.text == "Hund"
    assert dog.examples == tuple(GERMAN[:2])
    assert big.text == "große", "the first word of a sentence has its capital from there"
    assert big.examples == (GERMAN[2], GERMAN[3])
    assert all(match.examples is None for match in translator.sentences(["A dog."], "en", "de")[0])
