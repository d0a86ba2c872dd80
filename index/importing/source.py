"""Reads the files of a sentence encoder: a folder of Hugging Face layout, or an ONNX file with its tokenizer.

sentence-transformers folders list their parts in modules.json. Without it, only the transformer is read and
its tokens are averaged, as sentence-transformers does. Pickles are never read.
"""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from index.errors import UsageError
from index.importing.graph import ONNX_ACTIVATIONS, POOLING_WEIGHTS, Dense, Head
from index.languages import LANGUAGE_CODE, standard_code

MODULES, CONFIG, TOKENIZER, CARD = "modules.json", "config.json", "tokenizer.json", "README.md"
GRAPH_PATHS = ("model.onnx", "onnx/model.onnx")  # where Hugging Face folders keep one
DEFAULT_MAX_TOKENS = 512  # tokens, if no file states a limit
UNLIMITED_TOKENS = 1 << 20  # tokens: tokenizers without a limit state a higher number
OFFSET_POSITIONS = ("roberta", "camembert", "mpnet", "longformer")  # model types that count from pad + 1


@dataclass(frozen=True)
class SourceEncoder:
    """A sentence encoder as published by its makers.

    folder: that of its transformer's files. graph: its ONNX file; None if it must be exported first. head:
    None if the pooling is not stated. prompts: possible prefixes of texts, by name; prefix: the default one.
    languages, licence: those of its model card, if stated.
    """

    folder: Path
    name: str
    graph: Path | None
    head: Head | None
    max_tokens: int
    lowercase: bool
    prompts: dict[str, str]
    prefix: str
    languages: tuple[str, ...]
    licence: str | None


def read_source(source: Path) -> SourceEncoder:
    """Read a folder or an ONNX file; UsageError if it is neither, or has parts that cannot be imported."""
    if source.is_file():
        return _read_onnx(source)
    if not source.is_dir():
        raise UsageError(
            f"{source}: no such file or folder: give a sentence encoder's folder or its ONNX file"
        )
    modules = _modules(source)
    folder = source / next((path for kind, path in modules if kind == "Transformer"), "")
    if not (folder / CONFIG).is_file():
        raise UsageError(f"{folder}: no {CONFIG}: not a sentence encoder of Hugging Face layout")
    graph = next((path for name in GRAPH_PATHS if (path := source / name).is_file()), None)
    encoder = _describe(source, folder, graph)
    return replace(encoder, head=_head(source, modules)) if modules else encoder


def _read_onnx(graph: Path) -> SourceEncoder:
    """Read an ONNX file, whose tokenizer and configuration are beside it or in the folder above."""
    if graph.suffix != ".onnx":
        raise UsageError(f"{graph}: not an ONNX file: give a sentence encoder's folder or its .onnx file")
    parents = (graph.parent, graph.parent.parent)
    folder = next((parent for parent in parents if (parent / TOKENIZER).is_file()), None)
    if folder is None:
        raise UsageError(f"{graph.parent}: no {TOKENIZER}: put the encoder's tokenizer beside its graph")
    modules = _modules(folder)
    encoder = _describe(folder, folder, graph)
    named = replace(encoder, name=encoder.name if graph.stem.startswith("model") else graph.stem)
    return replace(named, head=_head(folder, modules)) if modules else named


def _describe(source: Path, folder: Path, graph: Path | None) -> SourceEncoder:
    card, settings = _card(source), _json(source / "config_sentence_transformers.json")
    transformer = _json(folder / "sentence_bert_config.json")
    prompts = {str(name): str(text) for name, text in (settings.get("prompts") or {}).items() if text}
    return SourceEncoder(
        folder=folder,
        name=source.resolve().name,
        graph=graph,
        head=None,
        max_tokens=_max_tokens(folder, transformer),
        lowercase=bool(transformer.get("do_lower_case")),
        prompts=prompts,
        prefix=prompts.get(settings.get("default_prompt_name") or "", ""),
        languages=_languages(card.get("language")),
        licence=_licence(card),
    )


def _modules(folder: Path) -> list[tuple[str, str]]:
    """The kind and folder of each part; empty if the folder has no modules.json."""
    path = folder / MODULES
    if not path.is_file():
        return []
    try:
        entries = json.loads(path.read_text("utf-8"))
        modules = [(str(entry["type"]).rpartition(".")[2], str(entry["path"])) for entry in entries]
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: not a list of modules with type and path") from error
    for kind, place in modules:
        if kind not in ("Transformer", "Pooling", "Dense", "Normalize", "Dropout"):
            raise UsageError(
                f"{path}: a module {kind}: only transformers with pooling and dense layers are read"
            )
        if not _inside(place):
            raise UsageError(f"{path}: {place!r} is not a folder beside it")
    if [kind for kind, _ in modules[:2]] != ["Transformer", "Pooling"]:
        raise UsageError(f"{path}: does not begin with Transformer and Pooling: only these are read")
    return modules


def _inside(place: str) -> bool:
    return not Path(place).is_absolute() and ".." not in Path(place).parts


def _head(folder: Path, modules: list[tuple[str, str]]) -> Head:
    parts = [(kind, folder / place) for kind, place in modules]
    return Head(
        _pooling(next(path for kind, path in parts if kind == "Pooling")),
        tuple(_dense(path) for kind, path in parts if kind == "Dense"),
    )


def _pooling(folder: Path) -> str:
    """The mode of a Pooling module, as older and newer versions of sentence-transformers write it."""
    path = folder / CONFIG
    config = _json(path)
    named = config.get("pooling_mode") or [
        key.removeprefix("pooling_mode_").replace("_tokens", "").replace("_token", "")
        for key, value in config.items()
        if key.startswith("pooling_mode_") and value is True
    ]
    modes = [named] if isinstance(named, str) else list(map(str, named))
    if len(modes) != 1 or modes[0] not in POOLING_WEIGHTS:
        known = ", ".join(POOLING_WEIGHTS)
        raise UsageError(f"{path}: pooling {' and '.join(modes) or 'not stated'}: one of {known} is read")
    if config.get("include_prompt") is False:
        raise UsageError(f"{path}: leaves a prompt's tokens out of pooling, which a bundle cannot do")
    return modes[0]


def _dense(folder: Path) -> Dense:
    path = folder / "model.safetensors"
    if not path.is_file():
        raise UsageError(
            f"{folder}: no model.safetensors: pickles are not read; save it again as safetensors"
        )
    activation = str(_json(folder / CONFIG).get("activation_function") or "Identity").rpartition(".")[2]
    if activation not in ONNX_ACTIVATIONS:
        raise UsageError(f"{folder}: activation {activation}: one of {', '.join(ONNX_ACTIVATIONS)} is read")
    try:
        tensors = load_file(path)
        weights = tensors["linear.weight"].T.astype(np.float32)
    except (SafetensorError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: no tensor linear.weight of 16 or 32 bits") from error
    bias = tensors.get("linear.bias", np.zeros(weights.shape[1], np.float32)).astype(np.float32)
    return Dense(np.ascontiguousarray(weights), bias, activation)


def _max_tokens(folder: Path, transformer: dict[str, Any]) -> int:
    """The most tokens of a text, special ones included: the smallest of all stated limits."""
    config = _json(folder / CONFIG)
    positions = config.get("max_position_embeddings")
    if positions and any(kind in str(config.get("model_type")) for kind in OFFSET_POSITIONS):
        positions -= int(config.get("pad_token_id") or 0) + 1
    limits = (
        transformer.get("max_seq_length"),
        _json(folder / "tokenizer_config.json").get("model_max_length"),
        positions,
    )
    stated = [
        int(limit) for limit in limits if isinstance(limit, int | float) and 0 < limit < UNLIMITED_TOKENS
    ]
    return min(stated, default=DEFAULT_MAX_TOKENS)


def pad_token(folder: Path, tokenizer: Tokenizer) -> int | None:
    """The padding token; None if it is not stated: then any token will do, since the mask excludes it."""
    entry = _json(folder / "tokenizer_config.json").get("pad_token")
    name = entry.get("content") if isinstance(entry, dict) else entry
    token = tokenizer.token_to_id(name) if isinstance(name, str) else None
    configured = _json(folder / CONFIG).get("pad_token_id")
    return configured if token is None and isinstance(configured, int) else token


def _card(folder: Path) -> dict[str, Any]:
    """The metadata of the model card; empty if there is no card or it cannot be read."""
    from huggingface_hub import metadata_load

    try:
        return metadata_load(folder / CARD) or {}
    except Exception:  # YAML errors; a card may also be plain text
        return {}


def _languages(stated: object) -> tuple[str, ...]:
    """The language codes in a card, without words such as "multilingual"."""
    entries = stated if isinstance(stated, list) else [stated]
    # YAML reads the code of Norwegian, no, as false.
    names = ["no" if entry is False else entry for entry in entries]
    codes = (standard_code(name) for name in names if isinstance(name, str))
    return tuple(dict.fromkeys(code for code in codes if re.match(LANGUAGE_CODE, code)))


def _licence(card: dict[str, Any]) -> str | None:
    licence = card.get("license")
    licence = card.get("license_name", licence) if licence == "other" else licence
    return str(licence) if licence else None


def _json(path: Path) -> dict[str, Any]:
    """Read a JSON object; empty if there is no file. UsageError if it is something else."""
    if not path.is_file():
        return {}
    try:
        values = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise UsageError(f"{path}: not valid JSON ({error})") from error
    if not isinstance(values, dict):
        raise UsageError(f"{path}: not a JSON object")
    return values
