"""Word vectors: words in like contexts are alike."""

import numpy as np

from training.papers.mule.word_vectors import cooccurrences, learn_vectors


def test_cooccurrences_are_counted_in_sentences_only() -> None:
    counts = cooccurrences([np.asarray([1, 2, 3], np.int32), np.asarray([3], np.int32)], 5).toarray()
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
