"""TextEncoder: unit vectors that depend on nothing but the text."""

import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import numpy_helper
from tokenizers import Tokenizer

from index.arrays import unit
from index.encoder import text_encoder
from index.encoder.bundle import Bundle, open_bundle, words_file
from index.encoder.text_encoder import TextEncoder
from index.errors import DamagedError
from tests.bundles import LANGUAGES, make_bundle, republished, sentences

TEXTS = [text for language in LANGUAGES for text in sentences(language)[:40]] + ["", "a", "zzz", "dog " * 500]


@pytest.fixture(scope="module")
def encoder(bundle: Bundle) -> TextEncoder:
    return TextEncoder(bundle)


def embeddings(bundle: Bundle) -> NDArray[np.float32]:
    """(vocabulary, d) the token vectors of its graph."""
    values = {value.name: value for value in onnx.load(bundle.graph("fp32")).graph.initializer}
    return np.array(numpy_helper.to_array(values["table"]))


def test_vectors_are_what_the_graph_says(encoder: TextEncoder, bundle: Bundle) -> None:
    table = embeddings(bundle)
    mean = table[Tokenizer.from_file(str(bundle.tokenizer)).encode("a black dog").ids].mean(axis=0)
    np.testing.assert_allclose(encoder.encode(["a black dog"])[0], mean / np.linalg.norm(mean), atol=1e-6)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.sampled_from(TEXTS) | st.text(max_size=40), min_size=1, max_size=12),
    size=st.integers(1, 9),
)
def test_a_batch_equals_its_parts_in_any_order(encoder: TextEncoder, texts: list[str], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_encoder, "BATCH_SIZE", size)
        together, backwards = encoder.encode(texts), encoder.encode(texts[::-1])
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    np.testing.assert_allclose(backwards[::-1], together, atol=1e-6)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(), max_size=300))
def test_any_text_has_a_unit_vector(encoder: TextEncoder, text: str) -> None:
    for vector in (encoder.encode([text])[0], encoder.word_vectors([text], "en")[0]):
        assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


def test_text_beyond_the_longest_input_makes_no_difference(encoder: TextEncoder) -> None:
    np.testing.assert_array_equal(encoder.encode(["dog " * 40]), encoder.encode(["dog " * 400_000]))


def test_cleaning_is_part_of_encoding(encoder: TextEncoder) -> None:
    np.testing.assert_array_equal(encoder.encode(["  a\tblack \u200bdog\n"]), encoder.encode(["a black dog"]))


def test_a_word_is_the_mean_of_its_tokens(encoder: TextEncoder, bundle: Bundle) -> None:
    table = embeddings(bundle)
    tokens = Tokenizer.from_file(str(bundle.tokenizer)).encode("dogs", add_special_tokens=False)
    assert tokens.tokens == ["dog", "##s"]
    mean = table[tokens.ids].mean(axis=0)
    np.testing.assert_allclose(
        encoder.word_vectors(["dogs"], "en")[0], mean / np.linalg.norm(mean), atol=1e-6
    )


def test_a_word_moves_towards_what_it_means(bundle: Bundle, encoder: TextEncoder, tmp_path: Path) -> None:
    listed = gzip.compress(b"hund\t100\tdog=50 cat=25\nkatze\t99\n")
    translated = TextEncoder(republished(bundle, tmp_path, words_file("de"), listed))
    hund, katze, dog, cat = (encoder.word_vectors([w], "de")[0] for w in ("hund", "katze", "dog", "cat"))
    expected = unit(np.stack([katze, hund + 0.5 * dog + 0.25 * cat]))
    np.testing.assert_allclose(translated.word_vectors(["katze", "hund"], "de"), expected, atol=1e-6)
    np.testing.assert_array_equal(translated.word_vectors(["hund"], "en")[0], hund)
    np.testing.assert_array_equal(translated.encode(["hund"], language="de"), encoder.encode(["hund"]))


def test_tokens_have_no_special_ones_and_are_below_vocabulary(encoder: TextEncoder) -> None:
    assert encoder.tokens([""]) == [[]]
    (ids,) = encoder.tokens(["the dog ☃"])
    assert 2 not in ids  # [CLS]
    assert max(ids) < encoder.vocabulary


def test_the_recommended_precision_is_the_default(encoder: TextEncoder, tmp_path: Path) -> None:
    coarse = TextEncoder(make_bundle(tmp_path / "b", int8=True))
    assert coarse.precision == "int8"
    first, second = encoder.encode(TEXTS), coarse.encode(TEXTS)
    assert not np.array_equal(first, second)
    with pytest.raises(DamagedError, match=r"encoder\.onnx: ONNX Runtime cannot read it"):
        TextEncoder(open_bundle(tmp_path / "b"), precision="fp32")
    first_words, second_words = (one.word_vectors(sentences("en")[:20], "en") for one in (encoder, coarse))
    np.testing.assert_array_less(0.99, np.einsum("nd,nd->n", first_words, second_words))
    # All but "", "a" and "zzz", whose tokens are near zero and lost in eight bits.
    np.testing.assert_array_less(0.99, np.einsum("nd,nd->n", first, second)[:200])


@pytest.mark.parametrize("name", ["encoder.onnx", "tokenizer.json"])
def test_a_sealed_file_that_is_not_what_it_should_be_is_refused(
    bundle: Bundle, tmp_path: Path, name: str
) -> None:
    wrong = republished(bundle, tmp_path, name, b"nonsense")
    with pytest.raises(DamagedError, match=f"{name}: .* cannot read it"):
        TextEncoder(wrong)


def test_a_graph_with_other_names_or_dimensions_is_refused(bundle: Bundle, tmp_path: Path) -> None:
    graph = onnx.load(bundle.graph("fp32"))
    graph.graph.output[0].name = graph.graph.node[-1].output[0] = "other"
    renamed = republished(bundle, tmp_path / "1", "encoder.onnx", graph.SerializeToString())
    with pytest.raises(DamagedError, match="inputs and outputs"):
        TextEncoder(renamed)
    smaller = make_bundle(tmp_path / "small", dimension=24).graph("fp32").read_bytes()
    with pytest.raises(DamagedError, match="gives 24 dimensions, the manifest says 48"):
        TextEncoder(republished(bundle, tmp_path / "2", "encoder.onnx", smaller))


def test_an_untrained_token_still_has_a_direction(bundle: Bundle, tmp_path: Path) -> None:
    table, token = embeddings(bundle), json.loads(bundle.tokenizer.read_text())["model"]["vocab"]["dog"]
    table[token] = 0
    graph = onnx.load(bundle.graph("fp32"))
    (weights,) = (value for value in graph.graph.initializer if value.name == "table")
    weights.CopyFrom(numpy_helper.from_array(table, "table"))
    changed = republished(bundle, tmp_path, "encoder.onnx", graph.SerializeToString())
    vector = TextEncoder(open_bundle(changed.folder)).word_vectors(["dog"], "en")[0]
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


def test_a_tokenizer_is_opened_once_for_all_encoders_of_a_process(bundle: Bundle, tmp_path: Path) -> None:
    kept = TextEncoder(bundle)
    copy = open_bundle(shutil.copytree(bundle.folder, tmp_path / "copy"))
    assert TextEncoder(copy).tokenizer is kept.tokenizer
