"""Encoders from elsewhere: a bundle gives the vectors that transformers computes of their folder."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor

from index.encoder.bundle import ENCODER, Bundle, open_bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import UsageError
from passepartout import run
from tests.conftest import Fails
from tests.sentence_encoders import TEXTS, make_sentence_encoder, write_json
from training.imported import encoder as module
from training.imported.encoder import import_encoder

pytestmark = pytest.mark.slow  # torch exports


def vector(folder: Path, text: str) -> Tensor:
    """(d): what transformers gives for one text, cut to the 16 tokens of sentence_bert_config.json.

    Pooled as sentence_transformers.models.Pooling defines the weighted mean, and through the dense layer.
    """
    from transformers import AutoModel  # which takes seconds to import

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(16)
    ids = torch.tensor([tokenizer.encode(text).ids])
    with torch.no_grad():
        hidden: Tensor = AutoModel.from_pretrained(folder).eval()(input_ids=ids).last_hidden_state[0]
    weights = torch.arange(1, len(hidden) + 1)[:, None]
    layer = load_file(folder / "2_Dense" / "model.safetensors")
    pooled = (hidden * weights).sum(0) / weights.sum()
    return torch.tanh(pooled @ layer["linear.weight"].T + layer["linear.bias"])


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_sentence_encoder(tmp_path_factory.mktemp("source") / "Tiny Encoder")


@pytest.fixture(scope="module")
def imported(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return import_encoder(source, tmp_path_factory.mktemp("imported") / "bundle")


@pytest.fixture
def same_graph(imported: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch's exporter, which takes seconds, has its graph made already: the weights are the same."""
    graph = imported.folder / ENCODER
    monkeypatch.setattr(
        module, "write_graph", lambda _encoder, _example, file, *_: shutil.copyfile(graph, file)
    )


def assert_same(bundle: Bundle, rows: list[Tensor], texts: list[str] = TEXTS) -> None:
    expected = torch.nn.functional.normalize(torch.stack(rows)).numpy()
    np.testing.assert_allclose(TextEncoder(bundle).encode(texts), expected, atol=1e-4)


def test_a_folder_becomes_a_bundle_that_gives_its_vectors(source: Path, imported: Bundle) -> None:
    assert_same(imported, [vector(source, text) for text in TEXTS])
    manifest = open_bundle(imported.folder).manifest
    assert imported.name == "tiny-encoder@1"
    assert (manifest.languages, manifest.licence) == (("en", "de"), "apache-2.0")
    assert (manifest.dimension, manifest.max_tokens) == (16, 16)


@pytest.mark.usefixtures("same_graph")
def test_a_prefix_is_read_before_every_text_and_is_no_word_of_it(tmp_path: Path) -> None:
    source = make_sentence_encoder(tmp_path / "prompted")
    settings = {"prompts": {"query": "query: "}, "default_prompt_name": "query"}
    write_json(source / "config_sentence_transformers.json", settings)
    bundle = import_encoder(source, tmp_path / "bundle")
    assert_same(bundle, [vector(source, f"query: {text}") for text in TEXTS])
    assert len(TextEncoder(bundle).tokens(["a dog"])[0]) == 2


def test_pickles_are_refused_in_one_line(tmp_path: Path, fails: Fails) -> None:
    folder = make_sentence_encoder(tmp_path / "pickled")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    line = fails("bundle", "import", folder, "--out", tmp_path / "bundle")
    assert "pytorch_model.bin" in line
    assert "safetensors" in line


def test_a_pickled_layer_is_refused(tmp_path: Path) -> None:
    folder = make_sentence_encoder(tmp_path / "source")
    layer = folder / "2_Dense" / "model.safetensors"
    layer.rename(layer.with_name("pytorch_model.bin"))
    with pytest.raises(UsageError, match=r"2_Dense.*pickle"):
        import_encoder(folder, tmp_path / "bundle")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("config.json", "cannot read it"),
        ("tokenizer.json", "tokenizer"),
        ("README.md", "--languages"),
        ("**/model.safetensors", "no weights"),
    ],
)
def test_what_is_missing_is_named(name: str, said: str, tmp_path: Path) -> None:
    folder = make_sentence_encoder(tmp_path / "source")
    for file in folder.glob(name):
        file.unlink()
    with pytest.raises(UsageError, match=said):
        import_encoder(folder, tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()


@pytest.mark.usefixtures("same_graph")
@pytest.mark.parametrize(
    ("head", "languages", "licence"),
    [
        (
            "language: [multilingual, zh_tw, sr-latn, de, de]\nlicense: mit",
            ("zh-Hant", "sr-Latn", "de"),
            "mit",
        ),
        ("language:\n- da\n- no\nlicense: other\nlicense_name: open-mind", ("da", "no"), "open-mind"),
    ],
)
def test_the_card_says_languages_and_licence(
    head: str, languages: tuple[str, ...], licence: str, tmp_path: Path
) -> None:
    folder = make_sentence_encoder(tmp_path / "source")
    (folder / "README.md").write_text(f"---\n{head}\n---\n# An encoder\n", "utf-8")
    manifest = import_encoder(folder, tmp_path / "bundle").manifest
    assert (manifest.languages, manifest.licence) == (languages, licence)


def test_nothing_is_overwritten(source: Path, imported: Bundle) -> None:
    assert run(["bundle", "import", str(source), "--out", str(imported.folder)]) == 2
    open_bundle(imported.folder)
