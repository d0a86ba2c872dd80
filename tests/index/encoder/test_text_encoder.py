"""TextEncoder: unit vectors that depend on nothing but the text."""

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from index.encoder.bundle import Bundle, BundleManifest, open_bundle, publish_bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import DamagedError, UsageError
from tests.bundles import LANGUAGES, make_bundle, sentences

TEXTS = [text for language in LANGUAGES for text in sentences(language)[:40]] + ["", "a", "zzz", "dog " * 500]


@pytest.fixture(scope="module")
def encoder(bundle: Bundle) -> TextEncoder:
    return TextEncoder(bundle)


def republish(bundle: Bundle, folder: Path, name: str, content: bytes) -> Bundle:
    """The bundle again, with one file replaced and everything sealed: valid outside, wrong inside."""
    staging = folder / "staging"
    shutil.copytree(bundle.folder, staging)
    (staging / name).write_bytes(content)
    (staging / "manifest.json").unlink()
    values = bundle.manifest.model_dump(exclude={"files", "digest"})
    return publish_bundle(staging, folder / "bundle", BundleManifest(**values))


def test_vectors_are_float32_of_unit_norm(encoder: TextEncoder) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_text_gives_no_rows(encoder: TextEncoder) -> None:
    assert encoder.encode([]).shape == (0, encoder.dimension)
    assert encoder.word_vectors([], "en").shape == (0, encoder.dimension)


def test_vectors_are_what_the_graph_says(encoder: TextEncoder, bundle: Bundle) -> None:
    table = load_file(bundle.embeddings)["embeddings"].astype(np.float32)
    ids = Tokenizer.from_file(str(bundle.tokenizer)).encode("a black dog").ids
    mean = table[ids].mean(axis=0)
    # The table of the file is rounded to 16 bits, that of the graph is not.
    np.testing.assert_allclose(encoder.encode(["a black dog"])[0], mean / np.linalg.norm(mean), atol=2e-3)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.sampled_from(TEXTS) | st.text(max_size=40), min_size=1, max_size=12),
    size=st.integers(1, 9),
)
def test_a_batch_equals_its_parts_in_any_order(encoder: TextEncoder, texts: list[str], size: int) -> None:
    together = encoder.encode(texts, batch_size=size)
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    np.testing.assert_allclose(encoder.encode(texts[::-1], batch_size=size)[::-1], together, atol=1e-6)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(), max_size=300))
def test_any_text_has_a_unit_vector(encoder: TextEncoder, text: str) -> None:
    for vector in (encoder.encode([text])[0], encoder.word_vectors([text], "en")[0]):
        assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


@pytest.mark.parametrize(
    "text", ["\ud800", "a\x00b", "\u202edog\u202c", "e" + "\u0301" * 10_000, "👩‍👩‍👧" * 200]
)
def test_hostile_text_is_encoded(encoder: TextEncoder, text: str) -> None:
    assert np.isfinite(encoder.encode([text, "dog"])).all()


def test_text_beyond_the_longest_input_makes_no_difference(encoder: TextEncoder) -> None:
    np.testing.assert_array_equal(encoder.encode(["dog " * 40]), encoder.encode(["dog " * 400_000]))


def test_cleaning_is_part_of_encoding(encoder: TextEncoder) -> None:
    np.testing.assert_array_equal(encoder.encode(["  a\tblack \u200bdog\n"]), encoder.encode(["a black dog"]))


def test_progress_counts_every_text(encoder: TextEncoder) -> None:
    done: list[int] = []
    encoder.encode(TEXTS, batch_size=7, progress=done.append)
    assert sum(done) == len(TEXTS)


def test_a_word_is_the_mean_of_its_tokens(encoder: TextEncoder, bundle: Bundle) -> None:
    table = load_file(bundle.embeddings)["embeddings"].astype(np.float32)
    tokenizer = Tokenizer.from_file(str(bundle.tokenizer))
    tokens = tokenizer.encode("dogs", add_special_tokens=False)
    assert tokens.tokens == ["dog", "##s"]
    mean = table[tokens.ids].mean(axis=0)
    np.testing.assert_allclose(
        encoder.word_vectors(["dogs"], "en")[0], mean / np.linalg.norm(mean), atol=1e-6
    )


def test_words_do_not_depend_on_each_other(encoder: TextEncoder) -> None:
    words = ["dog", "hund", "", "☃", "孩子"]
    alone = np.concatenate([encoder.word_vectors([word], "en") for word in words])
    np.testing.assert_array_equal(encoder.word_vectors(words, "en"), alone)


def test_tokens_have_no_special_ones_and_are_below_vocabulary(encoder: TextEncoder) -> None:
    assert encoder.tokens([""]) == [[]]
    (ids,) = encoder.tokens(["the dog ☃"])
    assert 2 not in ids  # [CLS]
    assert max(ids) < encoder.vocabulary


def test_the_recommended_precision_is_the_default(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path / "b", int8=True)
    assert TextEncoder(bundle).precision == "int8"
    exact, coarse = TextEncoder(bundle, precision="fp32"), TextEncoder(bundle, precision="int8")
    first, second = exact.encode(TEXTS), coarse.encode(TEXTS)
    assert not np.array_equal(first, second)
    # All but "", "a" and "zzz", whose tokens are near zero and lost in eight bits.
    np.testing.assert_array_less(0.99, np.einsum("nd,nd->n", first, second)[:200])


def test_a_missing_precision_is_refused(bundle: Bundle) -> None:
    with pytest.raises(UsageError, match="no 8-bit encoder"):
        TextEncoder(bundle, precision="int8")


def test_two_threads_give_the_same(bundle: Bundle, encoder: TextEncoder) -> None:
    np.testing.assert_allclose(TextEncoder(bundle, threads=2).encode(TEXTS), encoder.encode(TEXTS), atol=1e-6)


@pytest.mark.parametrize("name", ["encoder.onnx", "tokenizer.json"])
def test_a_sealed_file_that_is_not_what_it_should_be_is_refused(
    bundle: Bundle, tmp_path: Path, name: str
) -> None:
    wrong = republish(bundle, tmp_path, name, b"nonsense")
    with pytest.raises(DamagedError, match=f"{name}: .* cannot read it"):
        TextEncoder(wrong)


def test_a_graph_with_other_names_or_dimensions_is_refused(bundle: Bundle, tmp_path: Path) -> None:
    graph = onnx.load(bundle.graph("fp32"))
    graph.graph.output[0].name = graph.graph.node[-1].output[0] = "other"
    renamed = republish(bundle, tmp_path / "1", "encoder.onnx", graph.SerializeToString())
    with pytest.raises(DamagedError, match="inputs and outputs"):
        TextEncoder(renamed)
    smaller = make_bundle(tmp_path / "small", dimension=24).graph("fp32").read_bytes()
    with pytest.raises(DamagedError, match="gives 24 dimensions, the manifest says 48"):
        TextEncoder(republish(bundle, tmp_path / "2", "encoder.onnx", smaller))


def test_a_token_may_have_an_embedding_in_each_language(bundle: Bundle, tmp_path: Path) -> None:
    """In the manifest's order; a language that the bundle does not know takes the mean."""
    languages = bundle.manifest.languages
    draw = np.random.default_rng(0)
    tables = draw.normal(size=(len(languages), 500, 48)).astype(np.float16)
    save_file({"embeddings": tables}, tmp_path / "apart.safetensors")
    content = (tmp_path / "apart.safetensors").read_bytes()
    encoder = TextEncoder(republish(bundle, tmp_path, "word_embeddings.safetensors", content))
    ((token,),) = encoder.tokens(["dog"])
    rows = dict(zip(languages, tables[:, token].astype(np.float32), strict=True))
    for language, row in (rows | {"xx": np.mean(list(rows.values()), axis=0)}).items():
        found = encoder.word_vectors(["dog"], language)[0]
        np.testing.assert_allclose(found, row / np.linalg.norm(row), atol=2e-3)


@pytest.mark.parametrize("problem", ["shape", "languages", "name", "bytes"])
def test_wrong_word_embeddings_are_refused_when_first_used(
    bundle: Bundle, tmp_path: Path, problem: str
) -> None:
    file = tmp_path / "wrong.safetensors"
    tensors = {
        "shape": {"embeddings": np.zeros((5, 48), np.float16)},
        "languages": {"embeddings": np.zeros((99, 500, 48), np.float16)},
        "name": {"weights": np.zeros((500, 48), np.float16)},
    }
    content = b"nonsense"
    if problem in tensors:
        save_file(tensors[problem], file)
        content = file.read_bytes()
    encoder = TextEncoder(republish(bundle, tmp_path, "word_embeddings.safetensors", content))
    assert encoder.encode(["dog"]).shape == (1, 48)
    with pytest.raises(DamagedError, match=r"word_embeddings\.safetensors"):
        encoder.word_vectors(["dog"], "en")


def test_an_untrained_token_still_has_a_direction(bundle: Bundle, tmp_path: Path) -> None:
    table = load_file(bundle.embeddings)["embeddings"]
    vocabulary = json.loads(bundle.tokenizer.read_text())["model"]["vocab"]
    table[vocabulary["dog"]] = 0
    save_file({"embeddings": table}, tmp_path / "zero.safetensors")
    content = (tmp_path / "zero.safetensors").read_bytes()
    changed = republish(bundle, tmp_path, "word_embeddings.safetensors", content)
    vector = TextEncoder(open_bundle(changed.folder)).word_vectors(["dog"], "en")[0]
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5
