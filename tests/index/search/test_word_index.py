"""WordIndex: aligned word vectors searched with CSLS."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from index.errors import DamagedError
from index.search.faiss_index import write_faiss
from index.search.hubness import csls, neighbourhood_means
from index.search.word_index import WordIndex, fold
from index.storage.index_manifest import SearchSettings
from index.storage.tables import write_table

Vectors = NDArray[np.float32]


def unit_rows(seed: int, count: int, dimension: int = 8) -> Vectors:
    rows = np.random.default_rng(seed).standard_normal((count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


GERMAN, ENGLISH = unit_rows(0, 30), unit_rows(1, 40)
ROTATION = np.linalg.qr(np.random.default_rng(2).standard_normal((8, 8)))[0].astype(np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_faiss(tmp_path / "de.words.faiss", GERMAN, "Flat")
    write_table(tmp_path / "de.words.arrow", {"word": [f"wort{row}" for row in range(30)], "count": [1] * 30})
    np.save(tmp_path / "de.words.hubness.npy", neighbourhood_means(GERMAN @ ENGLISH.T)[:, None])
    np.save(tmp_path / "de.words.rotation.npy", ROTATION)
    return tmp_path


def opened(folder: Path, **values: object) -> WordIndex:
    given: dict[str, object] = {"count": 30, "dimension": 8, "sources": ("en",), "search": SearchSettings()}
    return WordIndex.open(folder, "de", **(given | values))  # type: ignore[arg-type]


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
    write_table(tmp_path / "de.words.arrow", {"word": [], "count": []})
    np.save(tmp_path / "de.words.hubness.npy", np.zeros((0, 1), np.float32))
    np.save(tmp_path / "de.words.rotation.npy", np.eye(8, dtype=np.float32))
    assert opened(tmp_path, count=0).search(ENGLISH[:2], "en", 3) == [[], []]


@pytest.mark.parametrize("values", [{"count": 29}, {"dimension": 4}, {"sources": ()}])
def test_files_that_disagree_with_the_manifest_are_refused(folder: Path, values: dict[str, object]) -> None:
    with pytest.raises(DamagedError, match="build the index again"):
        opened(folder, **values)


@pytest.mark.parametrize(
    ("word", "folded"), [("Hund", "hund"), ("  ÁGUA ", "água"), ("İ", "i̇"), ("e\u0301", "é")]
)
def test_fold(word: str, folded: str) -> None:
    assert fold(word) == folded
