"""SentenceIndex: sentences found by their vectors, in the order of CSLS."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from index.confidence import MIN_CONFIDENCE
from index.confidence.calibration import Calibration
from index.errors import DamagedError
from index.search.sentence_index import SentenceIndex
from index.storage.index_manifest import IndexManifest, LanguageEntry
from index.storage.tables import write_table
from index.vectors.faiss import write_faiss
from index.vectors.neighbourhoods import csls, neighbourhood_means

Vectors = NDArray[np.float32]


def unit_rows(seed: int, count: int, dimension: int = 8) -> Vectors:
    rows = np.random.default_rng(seed).standard_normal((count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


GERMAN, ENGLISH, ARABIC = unit_rows(0, 30), unit_rows(1, 40), unit_rows(2, 20)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """30 German sentences beside 40 English and 20 Arabic ones."""
    write_faiss(tmp_path / "de.faiss", GERMAN, "Flat")
    columns = {
        "id": [f"de:{row + 1}" for row in range(30)],
        "text": [f"Satz {row}" for row in range(30)],
        "metadata": ["{}"] * 30,
    }
    write_table(tmp_path / "de.arrow", columns)
    means = [neighbourhood_means(GERMAN @ other.T) for other in (ENGLISH, ARABIC)]
    np.save(tmp_path / "de.hubness.npy", np.stack(means, axis=1))
    return tmp_path


def opened(
    folder: Path,
    *,
    count: int = 30,
    dimension: int = 8,
    sources: Sequence[str] = ("en", "ar"),
    calibration: Calibration | None = None,
) -> SentenceIndex:
    entry = LanguageEntry(sentences=count, words=0, lines=count, changed=0, dropped={}, links=0)
    languages = dict.fromkeys(("de", *sources), entry)
    manifest = IndexManifest.model_construct(dimension=dimension, languages=languages)
    return SentenceIndex.open(folder, "de", manifest, calibration=calibration)


@pytest.mark.parametrize(("source", "vectors"), [("en", ENGLISH), ("ar", ARABIC)])
def test_answers_are_those_of_csls_between_the_two_languages(
    folder: Path, source: str, vectors: Vectors
) -> None:
    scores = csls(vectors @ GERMAN.T)
    found = opened(folder).search(vectors, source, k=3)
    for query, matches in enumerate(found):
        best = np.argsort(-scores[query])[:3]
        assert [match.text for match in matches] == [f"Satz {row}" for row in best]
        assert [match.id for match in matches] == [f"de:{row + 1}" for row in best]
        np.testing.assert_allclose([match.score for match in matches], scores[query, best], atol=1e-5)
        np.testing.assert_allclose(
            [match.cosine for match in matches], (vectors @ GERMAN.T)[query, best], atol=1e-5
        )
        assert all(0 <= match.confidence <= 1 for match in matches)
        assert all(match.metadata == {} for match in matches)


def test_a_language_without_sentences_is_scored_by_the_mean_over_the_others(folder: Path) -> None:
    query = unit_rows(3, 1)
    means = np.stack([neighbourhood_means(GERMAN @ other.T) for other in (ENGLISH, ARABIC)]).mean(axis=0)
    similarities = query @ GERMAN.T
    scores = 2 * similarities - neighbourhood_means(similarities)[:, None] - means
    (match,) = opened(folder).search(query, "pt")[0]
    assert match.score == pytest.approx(float(scores.max()), abs=1e-5)


def test_the_only_language_of_an_index_is_searched_without_means(folder: Path) -> None:
    np.save(folder / "de.hubness.npy", np.zeros((30, 0), np.float32))
    (match,) = opened(folder, sources=()).search(GERMAN[4:5], "en")[0]
    assert match.text == "Satz 4"


def test_metadata_is_json(folder: Path) -> None:
    columns = {
        "id": [str(row) for row in range(30)],
        "text": ["x"] * 30,
        "metadata": ['{"book": [1, "é"]}'] * 30,
    }
    write_table(folder / "de.arrow", columns)
    assert opened(folder).search(GERMAN[:1], "en")[0][0].metadata == {"book": [1, "é"]}


def test_the_calibration_of_the_bundle_is_used(folder: Path) -> None:
    sure = Calibration(weights=(0.0, 0.0, 0.0, 0.0), bias=100.0, n=1)
    assert opened(folder, calibration=sure).search(GERMAN[:1], "en")[0][0].confidence == 1


def test_more_answers_than_sentences_are_all_of_them(folder: Path) -> None:
    found = opened(folder).search(GERMAN[:1], "en", k=500)[0]
    assert sorted(match.text for match in found) == sorted(f"Satz {row}" for row in range(30))
    assert len(opened(folder)) == 30


def test_no_queries_no_answers(folder: Path) -> None:
    assert opened(folder).search(np.zeros((0, 8), np.float32), "en") == []


@pytest.mark.parametrize(
    "values", [{"count": 31}, {"dimension": 9}, {"sources": ("en",)}, {"sources": ("a", "b", "c")}]
)
def test_files_that_disagree_with_the_manifest_are_refused(folder: Path, values: dict[str, Any]) -> None:
    with pytest.raises(DamagedError, match="build the index again"):
        opened(folder, **values)


@pytest.mark.parametrize("text", ["Sentence 12", "Sentence twelve"])
def test_an_answer_with_another_number_is_near_at_best(folder: Path, text: str) -> None:
    certain = Calibration(weights=(0.0, 0.0, 0.0, 0.0), bias=9.0, n=0)
    (matches,) = opened(folder, calibration=certain).search(ENGLISH[:1], "en", 30, [text])
    same, *others = matches  # "Satz 12" comes first, though its vector is nowhere near
    assert (same.text, same.match, same.penalties) == ("Satz 12", "translation", ())
    assert {(other.match, other.penalties) for other in others} == {("near", ("numbers",))}
    assert max(other.confidence for other in others) < MIN_CONFIDENCE < same.confidence


def test_an_answer_without_numbers_contradicts_none(folder: Path) -> None:
    certain = Calibration(weights=(0.0, 0.0, 0.0, 0.0), bias=9.0, n=0)
    (matches,) = opened(folder, calibration=certain).search(ENGLISH[:1], "en", 30, ["No number"])
    assert {match.penalties for match in matches} == {()}
