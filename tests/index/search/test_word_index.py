"""WordIndex: aligned word vectors searched with CSLS."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from index.errors import DamagedError
from index.search.word_index import Questions, WordIndex, fold
from index.storage.index_manifest import IndexManifest, LanguageEntry
from index.storage.tables import write_table
from index.vectors.faiss import write_faiss
from index.vectors.neighbourhoods import csls, neighbourhood_means
from index.vectors.vector_index import Rows

Vectors = NDArray[np.float32]


def unit_rows(seed: int, count: int, dimension: int = 8) -> Vectors:
    rows = np.random.default_rng(seed).standard_normal((count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


GERMAN, ENGLISH = unit_rows(0, 30), unit_rows(1, 40)
ROTATION = np.linalg.qr(np.random.default_rng(2).standard_normal((8, 8)))[0].astype(np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_faiss(tmp_path / "de.words.faiss", GERMAN, "Flat")
    words = [f"wort{row}" for row in range(30)]
    write_table(tmp_path / "de.words.arrow", {"word": words, "count": np.ones(30, np.int64)})
    np.save(tmp_path / "de.words.hubness.npy", neighbourhood_means(GERMAN @ ENGLISH.T)[:, None])
    np.save(tmp_path / "de.words.rotation.npy", ROTATION)
    return tmp_path


def opened(
    folder: Path, *, count: int = 30, dimension: int = 8, sources: Sequence[str] = ("en",)
) -> WordIndex:
    entry = LanguageEntry(sentences=1, words=count, lines=1, changed=0, dropped={}, links=0)
    languages = dict.fromkeys(("de", *sources), entry)
    return WordIndex.open(
        folder, "de", IndexManifest.model_construct(dimension=dimension, languages=languages)
    )


def test_answers_are_those_of_csls(folder: Path) -> None:
    scores = csls(ENGLISH @ GERMAN.T)
    for query, matches in enumerate(opened(folder).search(ENGLISH, "en", k=4)):
        best = np.argsort(-scores[query])[:4]
        assert [match.text for match in matches] == [f"wort{row}" for row in best]
        assert [match.id for match in matches] == [f"de:word:wort{row}" for row in best]
        np.testing.assert_allclose([match.score for match in matches], scores[query, best], atol=1e-5)


def test_the_rotation_of_the_language_is_kept(folder: Path) -> None:
    np.testing.assert_array_equal(opened(folder).rotation, ROTATION)


def test_membership_is_of_folded_words(folder: Path) -> None:
    index = opened(folder)
    assert len(index) == 30
    assert "wort3" in index
    assert " WORT3\n" in index
    assert "wort" not in index


def test_no_queries_no_answers(folder: Path) -> None:
    assert opened(folder).search(np.zeros((0, 8), np.float32), "en") == []


def test_a_language_without_words(tmp_path: Path) -> None:
    write_faiss(tmp_path / "de.words.faiss", np.zeros((0, 8), np.float32), "Flat")
    write_table(tmp_path / "de.words.arrow", {"word": [], "count": np.array([], np.int64)})
    np.save(tmp_path / "de.words.hubness.npy", np.zeros((0, 1), np.float32))
    np.save(tmp_path / "de.words.rotation.npy", np.eye(8, dtype=np.float32))
    words = opened(tmp_path, count=0)
    assert words.search(ENGLISH[:2], "en", 3) == [[], []]
    assert words.rarities.tolist() == pytest.approx([np.log(2)])


@pytest.mark.parametrize("values", [{"count": 29}, {"dimension": 4}, {"sources": ()}])
def test_files_that_disagree_with_the_manifest_are_refused(folder: Path, values: dict[str, Any]) -> None:
    with pytest.raises(DamagedError, match="build the index again"):
        opened(folder, **values)


@pytest.mark.parametrize(
    ("word", "folded"), [("Hund", "hund"), ("  ÁGUA ", "água"), ("İ", "i̇"), ("e\u0301", "é")]
)
def test_fold(word: str, folded: str) -> None:
    assert fold(word) == folded


def never_better(rows: Rows) -> Vectors:
    return np.full(len(rows), -1, np.float32)


def test_with_questions_the_order_is_that_of_confidence_and_foreign_words_are_left_out(folder: Path) -> None:
    def frequency(word: str) -> float:
        return 0.9 if word == "wort7" else float("nan")

    questions = Questions(np.full(40, 0.02), frequency, never_better)
    for matches in opened(folder).search(ENGLISH, "en", 30, questions):
        confidences = [match.confidence for match in matches]
        assert confidences == sorted(confidences, reverse=True)
        assert {match.text for match in matches} == {f"wort{row}" for row in range(30)} - {"wort7"}


def test_an_answer_that_suits_another_word_better_is_less_likely(folder: Path) -> None:
    def likeliest(best_score: float) -> float:
        questions = Questions(
            np.full(1, 0.02), lambda _: 0.0, lambda rows: np.full(len(rows), best_score, np.float32)
        )
        return opened(folder).search(ENGLISH[:1], "en", 1, questions)[0][0].confidence

    assert likeliest(2.0) < likeliest(1.5) < likeliest(-1) == likeliest(-2)


def test_an_answer_rarer_than_its_question_is_less_likely(folder: Path) -> None:
    def likeliest(frequency: float) -> float:
        questions = Questions(np.full(1, frequency), lambda _: 0.0, never_better)
        return opened(folder).search(ENGLISH[:1], "en", 1, questions)[0][0].confidence

    assert likeliest(1 / 30) > likeliest(1 / 3)


def test_of_an_unknown_question_one_is_less_sure(folder: Path) -> None:
    def likeliest(frequency: float) -> float:
        questions = Questions(np.full(1, frequency), lambda _: 0.0, never_better)
        return opened(folder).search(ENGLISH[:1], "en", 1, questions)[0][0].confidence

    assert likeliest(float("nan")) < likeliest(1 / 30)
