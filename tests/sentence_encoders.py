"""Tiny sentence encoders with random weights, in the layout of sentence-transformers: real files."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = ["a", "dog", "cat", "runs", "sleeps", "on", "the", "beach", "snow", "ein", "hund", "rennt", "query"]
WORDS += [".", ",", "?", ":"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WIDTH, DENSE_WIDTH = 32, 16
TEXTS = ["A dog runs.", "ein Hund rennt", "a cat sleeps on the beach, a dog runs on the snow", "?", ""]
CARD = "---\nlanguage:\n- en\n- de\nlicense: apache-2.0\n---\n# tiny\n"


def make_sentence_encoder(folder: Path) -> Path:
    """Write a BERT of two layers with tokenizer, modules.json and card, weighted mean and a dense layer."""
    from transformers import BertConfig, BertModel  # which takes seconds to import

    torch.manual_seed(0)
    vocabulary = {token: number for number, token in enumerate([*SPECIAL, *WORDS])}
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    _tokenizer(vocabulary).save(str(folder / "tokenizer.json"))
    parts = ["Transformer", "Pooling", "Dense", "Normalize"]
    paths = ["", *(f"{number}_{kind}" for number, kind in enumerate(parts[1:], start=1))]
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (kind, path) in enumerate(zip(parts, paths, strict=True))
    ]
    write_json(folder / "modules.json", modules)
    modes = {"pooling_mode_mean_tokens": False, "pooling_mode_weightedmean_tokens": True}
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": WIDTH, **modes})
    layer = torch.nn.Linear(WIDTH, DENSE_WIDTH)
    activation = {"activation_function": "torch.nn.modules.activation.Tanh"}
    sizes = {"in_features": WIDTH, "out_features": DENSE_WIDTH, "bias": True}
    write_json(folder / "2_Dense" / "config.json", sizes | activation)
    tensors = {f"linear.{name}": value.detach() for name, value in layer.named_parameters()}
    save_file(tensors, folder / "2_Dense" / "model.safetensors")
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 16})
    (folder / "README.md").write_text(CARD, "utf-8")
    return folder


def write_json(path: Path, value: object) -> None:
    """Write a JSON file, its folder too."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")


def _tokenizer(vocabulary: dict[str, int]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer
