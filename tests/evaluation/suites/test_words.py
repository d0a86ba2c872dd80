from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluation.suites.words import (
    QUERIES_AT_ONCE,
    Dictionary,
    WordVectors,
    corpus_counts,
    score_dictionary,
)
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.words.vocabulary import training_words
from tests.bundles import make_corpus, unit_rows


def naive_scores(one: NDArray[np.float64], other: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    cosine = one.astype(float) @ other.T.astype(float)
    near = np.sort(cosine, 1)[:, -10:].mean(1)[:, None] + np.sort(cosine, 0)[-10:].mean(0)[None]
    return {"cosine": cosine, "csls": 2 * cosine - near}


def test_a_score_is_what_the_definition_gives() -> None:
    """CSLS over whole vocabularies, larger than a block; a word has several translations."""
    count = QUERIES_AT_ONCE + 7
    one = WordVectors([f"a{i}" for i in range(count)], unit_rows(0, count, 6))
    other = WordVectors([f"b{i}" for i in range(90)], unit_rows(1, 90, 6))
    right = {i: {5 * i % 90, i % 90, i * i % 90} for i in range(count)}
    entries = [(f"a{i}", f"b{j}") for i, translations in right.items() for j in translations]
    entries += [("a1", "missing"), ("missing", "b1")]
    score = score_dictionary(Dictionary("x", "y", entries), {"x": one, "y": other})
    for key, values in naive_scores(one.vectors, other.vectors).items():
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
