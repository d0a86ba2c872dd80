import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models

from index.errors import UsageError
from index.importing.source import pad_token, read_source


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a sentence encoder, as far as its settings go."""
    write(tmp_path / "config.json", {"model_type": "bert", "max_position_embeddings": 512})
    modules("Transformer", "Pooling", folder=tmp_path)
    write(tmp_path / "1_Pooling" / "config.json", {"pooling_mode_cls_token": True})
    return tmp_path


def write(path: Path, value: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")


def modules(*kinds: str, folder: Path) -> None:
    paths = ["", *(f"{number}_{kind}" for number, kind in enumerate(kinds[1:], start=1))]
    entries = [
        {"type": f"sentence_transformers.models.{kind}", "path": path}
        for kind, path in zip(kinds, paths, strict=True)
    ]
    write(folder / "modules.json", entries)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, "mean"),
        ({"pooling_mode_weightedmean_tokens": True}, "weightedmean"),
        ({"pooling_mode": "lasttoken"}, "lasttoken"),
        ({"pooling_mode": ["cls"]}, "cls"),
    ],
)
def test_poolings_of_older_and_newer_folders(config: dict[str, object], expected: str, folder: Path) -> None:
    write(folder / "1_Pooling" / "config.json", config)
    head = read_source(folder).head
    assert head is not None
    assert head.pooling == expected


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"pooling_mode": "attention"}, "pooling attention"),
        ({"pooling_mode_mean_tokens": False}, "pooling not stated"),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True}, "pooling mean and max"),
        ({"pooling_mode": "mean", "include_prompt": False}, "prompt"),
    ],
)
def test_poolings_that_no_bundle_has(config: dict[str, object], said: str, folder: Path) -> None:
    write(folder / "1_Pooling" / "config.json", config)
    with pytest.raises(UsageError, match=said):
        read_source(folder)


def test_modules_that_are_not_read(folder: Path) -> None:
    modules("Transformer", "Pooling", "LSTM", folder=folder)
    with pytest.raises(UsageError, match="a module LSTM"):
        read_source(folder)
    modules("CLIPModel", folder=folder)
    with pytest.raises(UsageError, match="a module CLIPModel"):
        read_source(folder)
    write(folder / "modules.json", [{"type": "x.Transformer", "path": "../elsewhere"}])
    with pytest.raises(UsageError, match="not a folder beside it"):
        read_source(folder)
    (folder / "modules.json").write_text("no JSON", "utf-8")
    with pytest.raises(UsageError, match="not a list of modules"):
        read_source(folder)


def test_dense_layers_are_safetensors(folder: Path) -> None:
    modules("Transformer", "Pooling", "Dense", folder=folder)
    write(folder / "2_Dense" / "config.json", {"activation_function": "torch.nn.modules.linear.Identity"})
    with pytest.raises(UsageError, match="pickles are not read"):
        read_source(folder)
    weights = np.arange(6, dtype=np.float32).reshape(2, 3)
    save_file({"linear.weight": weights}, folder / "2_Dense" / "model.safetensors")
    head = read_source(folder).head
    assert head is not None
    (dense,) = head.dense
    np.testing.assert_array_equal(dense.weights, weights.T)
    assert not dense.bias.any()


@pytest.mark.parametrize(
    ("head", "languages", "licence"),
    [
        ("language: en\nlicense: mit", ("en",), "mit"),
        ("language: [multilingual, zh_tw, sr-latn, de, de]", ("zh-Hant", "sr-Latn", "de"), None),
        ("language:\n- da\n- no\nlicense: other\nlicense_name: open-mind", ("da", "no"), "open-mind"),
        ("language: {broken", (), None),
    ],
)
def test_the_card_says_languages_and_licence(
    head: str, languages: tuple[str, ...], licence: str | None, folder: Path
) -> None:
    (folder / "README.md").write_text(f"---\n{head}\n---\n# An encoder\n", "utf-8")
    encoder = read_source(folder)
    assert (encoder.languages, encoder.licence) == (languages, licence)


def test_the_shortest_limit_counts(folder: Path) -> None:
    assert read_source(folder).max_tokens == 512
    write(folder / "tokenizer_config.json", {"model_max_length": 1e30})
    assert read_source(folder).max_tokens == 512
    write(folder / "sentence_bert_config.json", {"max_seq_length": 128})
    assert read_source(folder).max_tokens == 128
    # Positions of RoBERTa's kind begin after that of padding.
    config = {"model_type": "xlm-roberta", "max_position_embeddings": 66, "pad_token_id": 1}
    write(folder / "config.json", config)
    assert read_source(folder).max_tokens == 64


def test_the_padding_of_a_tokenizer(folder: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "<pad>": 1}, unk_token="a"))
    assert pad_token(folder, tokenizer) is None
    write(folder / "config.json", {"pad_token_id": 0})
    assert pad_token(folder, tokenizer) == 0
    write(folder / "tokenizer_config.json", {"pad_token": {"content": "<pad>"}})
    assert pad_token(folder, tokenizer) == 1


def test_what_is_no_encoder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read_source(tmp_path / "nothing")
    with pytest.raises(UsageError, match=r"no config\.json"):
        read_source(tmp_path)
    (tmp_path / "model.onnx").touch()
    with pytest.raises(UsageError, match=r"no tokenizer\.json"):
        read_source(tmp_path / "model.onnx")
    (tmp_path / "weights.bin").touch()
    with pytest.raises(UsageError, match="not an ONNX file"):
        read_source(tmp_path / "weights.bin")
