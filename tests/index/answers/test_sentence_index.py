"""SentenceIndex: what a version holds of the sentences of a language."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from index.answers.sentence_features import Features
from index.answers.sentence_index import SentenceIndex
from index.errors import DamagedError
from index.storage.index_manifest import IndexManifest, LanguageEntry
from index.storage.tables import write_table
from index.vectors.faiss import write_faiss
from index.vectors.neighbourhoods import neighbourhood_means
from tests.bundles import unit_rows

GERMAN, ENGLISH, ARABIC = unit_rows(0, 30), unit_rows(1, 40), unit_rows(2, 20)
MEANS = np.stack([neighbourhood_means(GERMAN @ other.T) for other in (ENGLISH, ARABIC)], axis=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """30 German sentences beside 40 English and 20 Arabic ones."""
    write_faiss(tmp_path / "de.faiss", GERMAN, "Flat")
    texts = [f"Satz {row}" for row in range(30)]
    ids = [f"de:{row + 1}" for row in range(30)]
    write_table(tmp_path / "de.arrow", {"id": ids, "text": texts, "metadata": ['{"book": [1, "é"]}'] * 30})
    np.save(tmp_path / "de.hubness.npy", MEANS)
    np.save(tmp_path / "de.best.npy", 2 * MEANS)
    for name, values in Features.of([texts], ["satz"], "de").arrays("de").items():
        np.save(tmp_path / name, values, allow_pickle=False)
    return tmp_path


def opened(
    folder: Path, *, count: int = 30, dimension: int = 8, sources: Sequence[str] = ("en", "ar")
) -> SentenceIndex:
    entry = LanguageEntry(sentences=count, words=0, lines=count, changed=0, dropped={}, links=0)
    languages = dict.fromkeys(("de", *sources), entry)
    return SentenceIndex.open(
        folder, "de", IndexManifest.model_construct(dimension=dimension, languages=languages)
    )


def test_a_sentence_is_read_by_its_row(folder: Path) -> None:
    index = opened(folder)
    assert len(index) == 30
    assert (index.text(4), index.sentence(4).id) == ("Satz 4", "de:5")
    assert index.sentence(4).metadata == {"book": [1, "é"]}
    assert index.texts(2, 4).to_pylist() == ["Satz 2", "Satz 3"]
    assert index.features.numbers_of(4) == {4: 1}
    assert index.translations(4, index) == [4]  # it says itself
    assert index.translations(4, opened(folder)) == []  # nothing is aligned


def test_means_are_those_of_the_language_asked_in_or_else_of_all(folder: Path) -> None:
    index = opened(folder)
    np.testing.assert_array_equal(index.means_from("en"), MEANS[:, 0])
    np.testing.assert_array_equal(index.means_from("ar"), MEANS[:, 1])
    np.testing.assert_allclose(index.means_from("pt"), MEANS.mean(axis=1))
    np.testing.assert_array_equal(index.best_from("ar"), 2 * MEANS[:, 1])
    for name in ("hubness", "best"):
        np.save(folder / f"de.{name}.npy", np.zeros((30, 0), np.float32))
    assert not opened(folder, sources=()).means_from("en").any()


@pytest.mark.parametrize(
    "values", [{"count": 31}, {"dimension": 9}, {"sources": ("en",)}, {"sources": ("a", "b", "c")}]
)
def test_files_that_disagree_with_the_manifest_are_refused(folder: Path, values: dict[str, Any]) -> None:
    with pytest.raises(DamagedError, match="build the index again"):
        opened(folder, **values)
