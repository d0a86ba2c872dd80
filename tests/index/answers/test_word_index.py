"""WordIndex: aligned word vectors, and the candidates among them for words."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from index.answers.candidates import Candidates
from index.answers.evidence import word_candidates
from index.answers.word_index import UNKNOWN_WORD, WordIndex, fold
from index.encoder.text_encoder import TextEncoder
from index.errors import DamagedError
from index.storage.index_manifest import IndexManifest, LanguageEntry
from index.storage.tables import write_table
from index.vectors.faiss import write_faiss
from index.vectors.neighbourhoods import csls, neighbourhood_means
from tests.bundles import unit_rows

Vectors = NDArray[np.float32]


GERMAN, ENGLISH = unit_rows(0, 30), unit_rows(1, 40)


class Encoder:
    """Gives every word the first axis as its vector."""

    dimension = 8

    def word_vectors(self, words: Sequence[str], language: str) -> Vectors:
        return np.tile(np.eye(1, 8, dtype=np.float32), (len(words), 1))


ENCODER = cast(TextEncoder, Encoder())


def written(folder: Path, code: str, vectors: Vectors, others: Vectors, words: Sequence[str]) -> None:
    write_faiss(folder / f"{code}.words.faiss", vectors, "Flat")
    write_table(folder / f"{code}.words.arrow", {"word": words, "count": np.ones(len(words), np.int64)})
    np.save(folder / f"{code}.words.hubness.npy", neighbourhood_means(vectors @ others.T)[:, None])
    best = csls(vectors @ others.T).max(axis=1, initial=0)
    np.save(folder / f"{code}.words.best.npy", np.stack([np.full(len(vectors), np.nan), best], 1, dtype="f4"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written(tmp_path, "de", GERMAN, ENGLISH, [f"wort{row}" for row in range(30)])
    written(tmp_path, "en", ENGLISH, GERMAN, [f"word{row}" for row in range(40)])
    return tmp_path


def opened(
    folder: Path, code: str = "de", *, count: int = 30, dimension: int = 8, sources: Sequence[str] = ("en",)
) -> WordIndex:
    entry = LanguageEntry(sentences=1, words=count, lines=1, changed=0, dropped={}, links=0)
    languages = dict.fromkeys((code, *sources), entry)
    manifest = IndexManifest.model_construct(dimension=dimension, languages=languages)
    return WordIndex.open(folder, code, manifest, ENCODER)


def asked(folder: Path, words: Sequence[str], k: int = 4) -> Candidates:
    english = opened(folder, "en", count=40, sources=("de",))
    return word_candidates(words, english.rows_of(words), english, opened(folder), k)


def test_candidates_are_those_of_csls(folder: Path) -> None:
    table = asked(folder, [f"word{row}" for row in range(40)])
    scores = csls(ENGLISH @ GERMAN.T)
    np.testing.assert_allclose(table["csls"], scores[table["question"], table["row"]], atol=1e-5)
    # All words are as frequent, so a difference is that between 1/30 and 1/40 of all.
    np.testing.assert_allclose(table["csls"] - table["score"], 0.05 * np.log(40 / 30), atol=1e-5)
    for query, places in enumerate(table.by_question()):
        assert table["row"][places[0]] == np.argmax(scores[query])
    best = scores.max(axis=0)[table["row"]]
    np.testing.assert_allclose(table["shortfall"], np.minimum(table["csls"] - best, 0), atol=1e-5)


def test_an_unknown_word_is_encoded_and_as_cautious_as_a_rare_answer(folder: Path) -> None:
    table = asked(folder, ["strange", "word1"])
    index = opened(folder)
    first = table["question"] == 0
    np.testing.assert_allclose(table["rarer"][first], -1)
    np.testing.assert_allclose(table["rarer"][~first], 0)
    np.testing.assert_allclose(table["cosine"][first].max(), GERMAN[:, 0].max(), atol=1e-5)
    assert index.rows_of(["wort3", "x"]).tolist() == [3, UNKNOWN_WORD]


def test_words_of_the_other_language_are_left_out_unless_all_are(tmp_path: Path) -> None:
    """A word that is frequent in English and rare in German is an English one."""
    written(tmp_path, "de", GERMAN, ENGLISH, [f"wort{row}" for row in range(30)])
    written(tmp_path, "en", ENGLISH[:5], GERMAN, ["wort7", "wort8", "a", "b", "c"])
    english = opened(tmp_path, "en", count=5, sources=("de",))
    table = word_candidates(["a"], english.rows_of(["a"]), english, opened(tmp_path), 30)
    assert set(table["row"].tolist()) == set(range(30)) - {7, 8}
    written(tmp_path, "de", GERMAN[:3], ENGLISH, ["a", "b", "c"])
    written(tmp_path, "en", ENGLISH[:3], GERMAN, ["a", "b", "c"])
    english = opened(tmp_path, "en", count=3, sources=("de",))
    german = opened(tmp_path, count=3)
    german._total = 1000
    assert len(word_candidates(["a"], english.rows_of(["a"]), english, german, 3)) == 3


def test_membership_is_of_folded_words(folder: Path) -> None:
    index = opened(folder)
    assert len(index) == 30
    assert "wort3" in index
    assert " WORT3\n" in index
    assert "wort" not in index


def test_words_can_be_added_for_a_while(folder: Path) -> None:
    index = opened(folder)
    more = index.with_words(["neu"])
    rows = np.array([2, 30])
    np.testing.assert_allclose(
        more.vectors_at(rows), np.stack([GERMAN[2], np.eye(8, dtype=np.float32)[0]]), atol=1e-6
    )
    assert (more.text(30), len(index)) == ("neu", 30)


def test_a_language_without_words(tmp_path: Path) -> None:
    write_faiss(tmp_path / "de.words.faiss", np.zeros((0, 8), np.float32), "Flat")
    write_table(tmp_path / "de.words.arrow", {"word": [], "count": np.array([], np.int64)})
    np.save(tmp_path / "de.words.hubness.npy", np.zeros((0, 1), np.float32))
    np.save(tmp_path / "de.words.best.npy", np.zeros((0, 2), np.float32))
    words = opened(tmp_path, count=0)
    table = word_candidates(["a", "b"], np.full(2, UNKNOWN_WORD), words.without_index("en"), words, 3)
    assert table.by_question() == [[], []]
    assert words.rarities.tolist() == pytest.approx([np.log(2)])


@pytest.mark.parametrize("values", [{"count": 29}, {"dimension": 4}, {"sources": ()}])
def test_files_that_disagree_with_the_manifest_are_refused(folder: Path, values: dict[str, Any]) -> None:
    with pytest.raises(DamagedError, match="build the index again"):
        opened(folder, **values)


@pytest.mark.parametrize(
    ("word", "folded"), [("Hund", "hund"), ("  ÁGUA ", "água"), ("İ", "i"), ("e\u0301", "é")]
)
def test_fold(word: str, folded: str) -> None:
    assert fold(word) == folded


def test_marks_that_were_not_typed_are_those_of_words_that_are_known(open_encoder: TextEncoder) -> None:
    words = WordIndex("tr", open_encoder, vocabulary=["güneş", "kar"], counts=[1, 1])
    assert words.respelled("Gunes, kar") == "güneş, kar"
    assert words.respelled("Güneş gunes") == "Güneş gunes", "whoever types marks means those"
    assert WordIndex("pl", open_encoder).respelled("slonce") == "słońce", "which the encoder has read"
    german = WordIndex("de", open_encoder, vocabulary=["schön", "tür"], counts=[1, 1])
    assert german.respelled("schon tuer") == "schon tür", "a word that is known stays"


def test_words_mean_the_same_by_the_encoder_or_are_misspelled(open_encoder: TextEncoder) -> None:
    known = ["photo", "picture", "movie", "film", "arm", "shoulder", "milk", "honey", "sunset", "midnight"]
    words = WordIndex("en", open_encoder, vocabulary=known, counts=[1] * len(known))
    assert words.same_meaning(["photo"], ["picture"])
    assert words.same_meaning(["movie"], ["film"])
    assert not words.same_meaning(["arm"], ["shoulder"])
    assert not words.same_meaning(["milk"], ["honey"])
    assert not words.same_meaning(["sunset"], ["midnight"])
    assert words.same_meaning(["sholder"], ["shoulder"])
    assert not words.same_meaning(["elder"], ["shoulder"])
    assert not words.same_meaning(["silk"], ["milk"])
    assert not words.same_meaning(["prednisone"], ["prednisolone"])
    assert not words.same_meaning(["hypertension"], ["hypotension"])


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("de", "bauchschmerzen", "zahnschmerzen"),
        ("de", "zufrieden", "unzufrieden"),
        ("en", "injection", "election"),
        ("es", "alérgico", "mágico"),
        ("en", "comfortable", "uncomfortable"),
        ("fr", "plainte", "enceinte"),
        ("uk", "зачинив", "відчинив"),
    ],
)
def test_words_that_end_alike_do_not_mean_the_same(
    open_encoder: TextEncoder, language: str, one: str, other: str
) -> None:
    words = WordIndex(language, open_encoder, vocabulary=[one, other], counts=[1, 1])
    assert not words.same_meaning([one], [other])
