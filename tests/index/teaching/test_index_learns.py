"""An index whose encoder is taught one more language."""

from pathlib import Path

import pytest

from index.answers.translator import Translator
from index.build.build_index import build_index
from index.build.changes import change_index
from index.encoder.bundle import Bundle
from index.errors import OutdatedError, UsageError
from index.formats.registry import Source
from index.storage.options import Options
from index.storage.versions import VERSIONS, open_version
from index.teaching.learn_language import teach_index
from tests.bundles import DRAWN, make_corpus

CAPTIONS = [
    (f"pictograms/{code}", text)
    for name, code in DRAWN.items()
    for text in (f"{name[::-1]}o", f"la {name[::-1]}o")
]


@pytest.fixture
def index(bundle: Bundle, tmp_path: Path) -> Path:
    build_index(bundle, make_corpus(tmp_path / "corpus", ("en", "de"), 40), tmp_path / "index")
    return tmp_path / "index"


def test_the_new_version_translates_from_it_and_else_as_before(index: Path) -> None:
    before = Translator.open(index)
    manifest, learned = teach_index(index, "eo", CAPTIONS)
    assert learned is not None
    assert learned.lines == 12
    after = Translator.open(index)
    assert after.version == manifest.version != before.version
    assert after.model == "tiny@1-eo"
    asked = ["A small dog runs on the beach.", "The bird sits."]
    assert before.sentences(asked, "en", "de", 5) == after.sentences(asked, "en", "de", 5)
    assert "dog" in after.sentences(["la godo"], "eo", "en")[0][0].text
    old, new = (index / VERSIONS / name for name in (before.version, after.version))
    assert (old / "en.arrow").stat().st_ino == (new / "en.arrow").stat().st_ino, "not copied"


def test_taught_words_answer_as_well_as_ask_with_a_corpus_and_without(index: Path, tmp_path: Path) -> None:
    teach_index(index, "eo", CAPTIONS)
    taught = Translator.open(index)
    info = {language.code: language for language in taught.languages}
    assert (info["eo"].sentences, "eo" in info["en"].targets) == (0, True)
    asked, answer = taught.words(["godo"], "eo", "en", 3), taught.words(["dog"], "en", "eo", 3)
    assert asked[0][0].text == "dog"
    assert asked[0][0].in_vocabulary
    assert (answer[0][0].text, answer[0][0].id, answer[0][0].examples) == ("godo", "eo:word:godo", ())
    assert taught.sentences(["A dog."], "en", "eo") == [()]
    corpus = tmp_path / "more.txt"
    corpus.write_text("Godo kuras.\nJen Godo kaj dog.\nLa bela Godo.\n", "utf-8")
    change_index(index, add=[Source(corpus, "eo")])
    after = Translator.open(index)
    (word,), (before,) = after.words(["dog"], "en", "eo"), answer
    assert (word[0].id, word[0].confidence) == (before[0].id, before[0].confidence), "as sure as before"
    assert (word[0].text, word[0].examples) == ("Godo", ("Godo kuras.", "Jen Godo kaj dog."))
    assert after.sentences(["The dog."], "en", "eo")[0]


def test_few_sentences_of_a_taught_language_change_no_answer_in_others(
    bundle: Bundle, tmp_path: Path
) -> None:
    corpus = make_corpus(tmp_path / "corpus", ("en", "de"), 40)
    build_index(bundle, corpus, tmp_path / "index", options=Options(aligned=True))
    teach_index(tmp_path / "index", "eo", CAPTIONS)
    asked = ["la godo", "la drib", "godo kaj tac"]
    before = Translator.open(tmp_path / "index").sentences(asked, "eo", "de", 5)
    table = tmp_path / "few.tsv"
    table.write_text("en\teo\nThe dog is old.\tla godo oldas\nA bird.\tdribo\n", "utf-8")
    change_index(tmp_path / "index", add=[Source(table)])
    translator = Translator.open(tmp_path / "index")
    assert translator.sentences(["la godo oldas"], "eo", "en")[0][0].match == "exact"
    for old, new in zip(before, translator.sentences(asked, "eo", "de", 5), strict=True):
        assert [one.text for one in new[:4]] == [one.text for one in old[:4]]
        assert {one.gloss for one in new} == {None}, "its few sentences do not say what an answer says"


def test_it_is_taught_once_and_again_with_more_captions(index: Path) -> None:
    base = open_version(index)[1].version
    first, _ = teach_index(index, "eo", CAPTIONS[:10], base=base, job="a")
    again, learned = teach_index(index, "eo", CAPTIONS[:10], base=base, job="a")
    assert (again.version, learned) == (first.version, None)
    with pytest.raises(OutdatedError):
        teach_index(index, "eo", CAPTIONS, base=base)
    second, learned = teach_index(index, "eo", CAPTIONS)
    assert learned is not None
    assert (second.model, second.base) == ("tiny@1-eo", first.version)
    card = (index / VERSIONS / second.version / "encoder" / "README.md").read_text("utf-8")
    assert card.count("Taught afterwards") == 1


def test_lines_that_are_no_captions_are_refused(index: Path) -> None:
    version = open_version(index)[1].version
    for code, captions in (
        ("de", CAPTIONS),
        ("eo", CAPTIONS[:3]),
        ("eo", [("dog", "hundo")] * 12),
        ("x/", CAPTIONS),
    ):
        with pytest.raises(UsageError):
            teach_index(index, code, captions)
    assert open_version(index)[1].version == version
