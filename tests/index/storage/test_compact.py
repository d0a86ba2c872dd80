"""A bundle in 8 bits: everything works that works with one in 32."""

from pathlib import Path

import numpy as np
import pytest

from index.answers.translator import Translator
from index.build.build_index import build_index
from index.encoder.bundle import Bundle, open_bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import BundleError, DamagedError, UsageError
from index.storage.manifest import write_manifest
from tests.bundles import lexicon, make_bundle, make_corpus, sentences


@pytest.fixture(scope="module")
def compact(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The bundle of the tests in 8 bits. Not to be changed."""
    return make_bundle(tmp_path_factory.mktemp("compact") / "tiny", int8=True)


def test_it_has_no_other_files(compact: Bundle) -> None:
    found = open_bundle(compact.folder)
    assert found.graph("fp32") is None
    plain = {name for name in found.manifest.files if not name.startswith("words/")}
    assert plain == {"encoder.int8.onnx", "pictures.safetensors", "tokenizer.json", "README.md"}
    assert TextEncoder(found).precision == "int8"


def test_a_missing_32_bit_graph_is_refused(compact: Bundle) -> None:
    with pytest.raises(UsageError, match="has no 32-bit encoder: use --precision int8"):
        TextEncoder(compact, precision="fp32")


def test_words_have_nearly_the_vectors_of_the_exact_graph(bundle: Bundle, compact: Bundle) -> None:
    words = [word for concept in lexicon() for word in concept.values()]
    for given in (words, sentences("en")[:20]):
        one, other = (TextEncoder(each).word_vectors(given, "en") for each in (bundle, compact))
        np.testing.assert_array_less(0.99, np.einsum("nd,nd->n", one, other))


@pytest.mark.parametrize("word", ["", "zyzzyva", " "])
def test_any_word_has_a_direction(compact: Bundle, word: str) -> None:
    (vector,) = TextEncoder(compact).word_vectors([word], "en")
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


def test_an_index_of_it_answers_as_one_of_the_whole_bundle(
    index_dir: Path, compact: Bundle, tmp_path: Path
) -> None:
    build_index(compact, make_corpus(tmp_path / "corpus"), tmp_path / "index")
    whole, small = Translator.open(index_dir), Translator.open(tmp_path / "index")
    asked = sentences("en")[::97]
    one, other = (found.sentences(asked, "en", "de", 3) for found in (whole, small))
    assert [matches[0].id for matches in other] == [matches[0].id for matches in one]
    one, other = (found.words(["dog", "beach", "sleeps"], "en", "pt", 1) for found in (whole, small))
    assert [matches[0].text for matches in other] == [matches[0].text for matches in one]
    assert small.detect("Der Hund ist klein und schläft.") == "de"


def test_a_manifest_that_promises_another_precision_is_refused(tmp_path: Path) -> None:
    folder = make_bundle(tmp_path / "tiny", int8=True).folder
    write_manifest(folder, open_bundle(folder).manifest.model_copy(update={"precision": "fp32"}))
    with pytest.raises((BundleError, DamagedError), match="is missing"):
        open_bundle(folder)
