"""Word vectors: words in like contexts are alike, fastText's format is read, damage is told."""

from pathlib import Path

import numpy as np
import pytest

from index.errors import DataError
from training.papers.mule.word_vectors import cooccurrences, learn_vectors, read_vec, word_vectors


def test_cooccurrences_are_counted_in_sentences_only() -> None:
    rows = [np.asarray([1, 2, 3], np.int32), np.asarray([3], np.int32)]
    counts = cooccurrences(rows, 5).toarray()
    assert counts[1, 2] == counts[2, 1] == counts[1, 3] == 1
    assert counts[3, 3] == 0
    assert counts.sum() == 6


def test_words_in_like_contexts_are_alike() -> None:
    draw = np.random.default_rng(0)
    groups = [[4, 5, 6, 7], [8, 9, 10, 11]]
    rows = [draw.choice(groups[i % 2], 3, replace=False).astype(np.int32) for i in range(400)]
    found = learn_vectors(rows, 14, 6, seed=0)
    assert found.shape == (14, 6)
    assert not found[[0, 13]].any(), "words never seen"
    unit = found[4:12] / np.linalg.norm(found[4:12], axis=1, keepdims=True)
    cosines = unit @ unit.T
    assert cosines[:4, :4].min() > cosines[:4, 4:].max() + 0.3
    np.testing.assert_array_equal(found, learn_vectors(rows, 14, 6, seed=0))


def test_a_fasttext_file_is_read_and_a_language_without_one_learns(tmp_path: Path) -> None:
    (tmp_path / "de.vec").write_text("3 3\nhund 1 0 0\nkatze 0 3 0\nmaus 0 0 2\n", "utf-8")
    words = ["<pad>", "hund", "dog", "katze"]
    raw = read_vec(tmp_path / "de.vec", {word: row for row, word in enumerate(words)}, 2)
    assert raw.tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 3, 0]]
    rows = [np.asarray([1, 2, 3], np.int32)] * 3
    found = word_vectors(tmp_path, words, {"de": rows, "en": rows}, 2, seed=0)
    assert found["de"].shape == found["en"].shape == (4, 2)
    assert not found["de"][2].any()
    assert found["en"][2].any()


@pytest.mark.parametrize(
    "text", ["", "not a header\n", "1 3\nhund 1 x 3\n", "1 3\nhund 1 2\n", "1 1\nhund 1\n"]
)
def test_a_malformed_file_is_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / "de.vec").write_text(text, "utf-8")
    with pytest.raises(DataError, match=r"de\.vec"):
        read_vec(tmp_path / "de.vec", {"hund": 0}, 2)
