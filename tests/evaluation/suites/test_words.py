from pathlib import Path

import numpy as np
import pytest

from evaluation.suites.words import (
    QUERIES_AT_ONCE,
    Dictionary,
    WordVectors,
    corpus_counts,
    dictionary_translation,
    read_dictionary,
    score_dictionary,
)
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import DataError, UnknownLanguageError, UsageError
from index.vectors.neighbourhoods import csls
from index.words.vocabulary import training_words
from passepartout import run
from tests.bundles import lexicon, make_corpus, unit_rows
from tests.conftest import Fails
from tests.files import tsv


def test_a_score_is_what_the_definition_gives() -> None:
    """CSLS over whole vocabularies, larger than a block; a word has several translations."""
    count = QUERIES_AT_ONCE + 7
    one = WordVectors([f"a{i}" for i in range(count)], unit_rows(0, count, 6))
    other = WordVectors([f"b{i}" for i in range(90)], unit_rows(1, 90, 6))
    right = {i: {5 * i % 90, i % 90, i * i % 90} for i in range(count)}
    entries = [(f"a{i}", f"b{j}") for i, translations in right.items() for j in translations]
    entries += [("a1", "missing"), ("missing", "b1")]
    score = score_dictionary(Dictionary("x", "y", entries), {"x": one, "y": other})
    cosines = one.vectors.astype(float) @ other.vectors.T.astype(float)
    for key, values in (("cosine", cosines), ("csls", csls(cosines))):
        for k in (1, 5, 10):
            hits = [bool(right[i] & set(np.argsort(-values[i])[:k].tolist())) for i in range(count)]
            assert score.measures[f"{key}_p{k}"] == pytest.approx(100 * np.mean(hits))
    assert score.n == count
    assert score.measures["coverage"] == pytest.approx(100 * (len(entries) - 2) / len(entries))


def test_the_vocabulary_is_that_of_training_and_of_the_text(bundle: Bundle, tmp_path: Path) -> None:
    encoder = TextEncoder(bundle)
    make_corpus(tmp_path, ("en", "de"), count=20)
    trained = training_words(bundle, "en")
    assert corpus_counts(encoder, None, ["en", "pt"])["en"] == trained
    seen = corpus_counts(encoder, tmp_path, ["en", "de"])["en"]
    assert seen["a"] == 20
    assert "a" not in trained
    assert seen["dog"] > trained["dog"]


def test_entries_are_folded_and_taken_once(tmp_path: Path) -> None:
    path = tsv(tmp_path / "d.tsv", [("Dog", "HUND"), ("dog", "hund"), ("ice  cream", "eis")])
    assert read_dictionary(f"en:de={path}") == Dictionary("en", "de", [("dog", "hund"), ("ice cream", "eis")])


@pytest.mark.parametrize("option", ["en-de=x.tsv", "en:de", "en:en=x.tsv", ":de=x.tsv", "x.tsv"])
def test_a_malformed_option_is_wrong_use(option: str) -> None:
    with pytest.raises(UsageError, match="give two languages and a file: en:de="):
        read_dictionary(option)


def test_a_file_that_is_no_dictionary_is_named(tmp_path: Path) -> None:
    path = tmp_path / "d.tsv"
    path.write_text("dog\thund\ncat\n")
    with pytest.raises(DataError, match=r"d\.tsv line 2: 1 columns, give source word TAB target word"):
        read_dictionary(f"en:de={path}")
    with pytest.raises(DataError, match="cannot be read"):
        read_dictionary(f"en:de={tmp_path / 'none.tsv'}")


def test_a_dictionary_of_other_words_has_no_coverage_and_no_score() -> None:
    vocabulary = WordVectors(["a", "b"], unit_rows(0, 2, 6))
    score = score_dictionary(Dictionary("x", "y", [("p", "q")]), {"x": vocabulary, "y": vocabulary})
    assert (score.n, score.measures) == (0, {"coverage": 0.0})


def test_the_suite_measures_the_dictionary_alone(bundle: Bundle, tmp_path: Path) -> None:
    pairs = [(concept["en"], concept["zh"]) for concept in lexicon()]
    path = tsv(tmp_path / "d.tsv", [*pairs, ("unicorn", "独角兽")])
    (table,) = dictionary_translation(
        TextEncoder(bundle), None, bundle.manifest.languages, [read_dictionary(f"en:zh={path}")]
    )
    (pair,) = table.pairs
    assert (pair.source, pair.target, pair.n) == ("en", "zh", 25)
    assert pair.measures["coverage"] == pytest.approx(100 * 25 / 26)
    assert 50 < pair.measures["csls_p1"] <= pair.measures["csls_p5"] <= pair.measures["csls_p10"]
    assert "en-zh 26 entries" in table.note


def test_languages_without_words_are_refused(bundle: Bundle, tmp_path: Path) -> None:
    path = tsv(tmp_path / "d.tsv", [("dog", "chien")])
    with pytest.raises(UnknownLanguageError, match="no words in 'fr'"):
        dictionary_translation(
            TextEncoder(bundle), None, bundle.manifest.languages, [read_dictionary(f"en:fr={path}")]
        )


def test_through_the_front_door(bundle: Bundle, tmp_path: Path, fails: Fails) -> None:
    path = tsv(tmp_path / "d.tsv", [("dog", "hund"), ("cat", "katze")])
    options = ["--encoder", str(bundle.folder), "--out", str(tmp_path / "out")]
    options += ["--dictionary", f"en:de={path}"]
    assert run(["evaluate", "words", *options]) == 0
    markdown = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert f"--dictionary en:de={path}" in markdown
    assert "| from → to | queries | CSLS P@1 | CSLS P@10 | coverage |" in markdown
    line = fails("evaluate", "multi30k", *options)
    assert line == "passepartout: --dictionary is for the suite words, not for multi30k: leave it out"
    assert fails("evaluate", "words", *options[:4]) == "passepartout: the suite words needs --dictionary"
