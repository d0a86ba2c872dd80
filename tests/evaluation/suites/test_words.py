from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluation.suites.words import (
    QUERIES_AT_ONCE,
    Dictionary,
    Vocabulary,
    corpus_counts,
    make_vocabularies,
    score_dictionary,
)
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.words.vocabulary import training_words
from tests.bundles import make_corpus
from tests.evaluation.measures.test_recall import units

STILL = np.eye(6, dtype=np.float32)


def turned(seed: int) -> NDArray[np.float32]:
    rotation: NDArray[np.float32] = np.linalg.qr(np.random.default_rng(seed).standard_normal((6, 6)))[0]
    return rotation.astype(np.float32)


def naive_scores(one: NDArray[np.float64], other: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    cosine = one.astype(float) @ other.T.astype(float)
    near = np.sort(cosine, 1)[:, -10:].mean(1)[:, None] + np.sort(cosine, 0)[-10:].mean(0)[None]
    return {"cosine": cosine, "csls": 2 * cosine - near}


def test_a_score_is_what_the_definition_gives() -> None:
    """CSLS over whole vocabularies, larger than a block; a word has several translations."""
    count = QUERIES_AT_ONCE + 7
    one = Vocabulary([f"a{i}" for i in range(count)], units(count, 6, 0), turned(2))
    other = Vocabulary([f"b{i}" for i in range(90)], units(90, 6, 1), turned(3))
    right = {i: {5 * i % 90, i % 90, i * i % 90} for i in range(count)}
    entries = [(f"a{i}", f"b{j}") for i, translations in right.items() for j in translations]
    entries += [("a1", "missing"), ("missing", "b1")]
    score = score_dictionary(Dictionary("x", "y", entries), {"x": one, "y": other})
    spaces = {"before_": (one.vectors, other.vectors), "": (one.aligned(), other.aligned())}
    for prefix, space in spaces.items():
        for key, values in naive_scores(*space).items():
            for k in (1, 5, 10):
                hits = [bool(right[i] & set(np.argsort(-values[i])[:k].tolist())) for i in range(count)]
                assert score.measures[f"{prefix}{key}_p{k}"] == pytest.approx(100 * np.mean(hits))
    assert score.measures["cosine_p10"] != score.measures["before_cosine_p10"]
    assert score.n == count
    assert score.measures["coverage"] == pytest.approx(100 * (len(entries) - 2) / len(entries))


def test_spaces_that_are_turned_meet_after_alignment() -> None:
    """Procrustes has found the rotation from the words alone."""
    concepts = {f"w{i}": row for i, row in enumerate(units(300, 16, 0))}
    small = np.random.default_rng(1).normal(scale=0.25, size=(16, 16))
    rotation, upper = np.linalg.qr(np.eye(16) + small)
    rotation = (rotation * np.sign(np.diag(upper))).astype(np.float32)  # near the identity, not mirrored
    counts = {code: Counter({word: 1 + row for row, word in enumerate(concepts)}) for code in ("x", "y")}
    spaces = iter((np.eye(16, dtype=np.float32), rotation))

    def embed(words: list[str], language: str) -> NDArray[np.float32]:
        return np.stack([concepts[word] for word in words]) @ next(spaces)

    vocabularies = make_vocabularies(counts, embed)  # type: ignore[arg-type]
    entries = [(word, word) for word in concepts]
    measures = score_dictionary(Dictionary("x", "y", entries), vocabularies).measures
    assert measures["before_csls_p10"] < 98
    assert measures["csls_p10"] == 100


def test_tokens_are_those_of_the_encoder(bundle: Bundle) -> None:
    """A Chinese word is several tokens here."""
    encoder = TextEncoder(bundle)
    (pieces,) = encoder.tokenizer.spellings(["海滩"])
    assert pieces == ["海", "滩"]
    vectors = encoder.token_vectors(pieces, "zh")
    assert vectors.shape == (2, encoder.dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.allclose(encoder.word_vectors(["海"], "zh")[0], vectors[0])
    assert encoder.tokens(["海滩"]) == [[encoder.tokens([piece])[0][0] for piece in pieces]]


def test_the_vocabulary_is_that_of_training_and_of_the_text(bundle: Bundle, tmp_path: Path) -> None:
    encoder = TextEncoder(bundle)
    make_corpus(tmp_path, ("en", "de"), count=20)
    trained = training_words(bundle, "en")
    assert corpus_counts(encoder, None, ["en", "pt"])["en"] == trained
    seen = corpus_counts(encoder, tmp_path, ["en", "de"])["en"]
    assert seen["a"] == 20
    assert "a" not in trained
    assert seen["dog"] > trained["dog"]
