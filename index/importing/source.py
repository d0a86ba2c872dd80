"""What the files of a sentence encoder say: a folder of Hugging Face layout, an ONNX file with its tokenizer.

sentence-transformers folders list their parts in modules.json; without it, the transformer alone is read and
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

from index.errors import UsageError, listed
from index.importing.graph import ACTIVATIONS, POOLINGS, Dense, Head
from index.storage.manifest import CODE

MODULES, CONFIG, TOKENIZER, CARD = "modules.json", "config.json", "tokenizer.json", "README.md"
GRAPHS = ("model.onnx", "onnx/model.onnx")  # where Hugging Face folders have one
LONGEST = 512  # tokens, where nothing says how many
UNLIMITED = 1 << 20  # tokens: what tokenizers say that know no limit is more
OFFSET_POSITIONS = ("roberta", "camembert", "mpnet", "longformer")  # model types that count from pad + 1


@dataclass(frozen=True)
class SourceEncoder:
    """A sentence encoder as its makers left it.

    folder: of its transformer's files. graph: its ONNX file, None where it must be exported first. head: None
    where nothing says how tokens are pooled. prompts: what it may want before texts, by name; prefix: the one
    that it wants unless told otherwise. languages, licence: as its card says, if it does.
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
    """Read a folder or an ONNX file; UsageError where it is neither or has parts that cannot be imported."""
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
    graph = next((path for name in GRAPHS if (path := source / name).is_file()), None)
    encoder = _describe(source, folder, graph)
    return replace(encoder, head=_head(source, modules)) if modules else encoder


def _read_onnx(graph: Path) -> SourceEncoder:
    """An ONNX file; its tokenizer and configuration lie beside it or in the folder above."""
    if graph.suffix != ".onnx":
        raise UsageError(f"{graph}: not an ONNX file: give a sentence encoder's folder or its .onnx file")
    folder = next((at for at in (graph.parent, graph.parent.parent) if (at / TOKENIZER).is_file()), None)
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
    """Kind and folder of each part; none where the folder has no modules.json."""
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


def _pooling(folder: Path) -> tuple[str, ...]:
    """The modes of a Pooling module, as older and newer versions of sentence-transformers write them."""
    path = folder / CONFIG
    config = _json(path)
    named = config.get("pooling_mode")
    if named:
        modes = (named,) if isinstance(named, str) else tuple(map(str, named))
    else:
        flags = {mode: f"{mode}_tokens" for mode in ("mean", "max", "weightedmean")} | {"cls": "cls_token"}
        modes = tuple(mode for mode in POOLINGS if config.get(f"pooling_mode_{flags.get(mode, mode)}"))
    if not modes or (unknown := [mode for mode in modes if mode not in POOLINGS]):
        what = f"pooling {listed(unknown)}" if modes else "no pooling"
        raise UsageError(f"{path}: {what}: one of {', '.join(POOLINGS)} is read")
    if config.get("include_prompt") is False:
        raise UsageError(f"{path}: leaves a prompt's tokens out of pooling, which a bundle cannot do")
    return modes


def _dense(folder: Path) -> Dense:
    path = folder / "model.safetensors"
    if not path.is_file():
        raise UsageError(
            f"{folder}: no model.safetensors: pickles are not read; save it again as safetensors"
        )
    activation = str(_json(folder / CONFIG).get("activation_function") or "Identity").rpartition(".")[2]
    if activation not in ACTIVATIONS:
        raise UsageError(f"{folder}: activation {activation}: one of {', '.join(ACTIVATIONS)} is read")
    try:
        tensors = load_file(path)
        weights = tensors["linear.weight"].T.astype(np.float32)
    except (SafetensorError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: no tensor linear.weight of 16 or 32 bits") from error
    bias = tensors.get("linear.bias", np.zeros(weights.shape[1], np.float32)).astype(np.float32)
    return Dense(np.ascontiguousarray(weights), bias, activation)


def _max_tokens(folder: Path, transformer: dict[str, Any]) -> int:
    """The most tokens of a text, special ones included, by all that says something of it."""
    config = _json(folder / CONFIG)
    positions = config.get("max_position_embeddings")
    if positions and any(kind in str(config.get("model_type")) for kind in OFFSET_POSITIONS):
        positions -= int(config.get("pad_token_id") or 0) + 1
    limits = (
        transformer.get("max_seq_length"),
        _json(folder / "tokenizer_config.json").get("model_max_length"),
        positions,
    )
    told = [int(limit) for limit in limits if isinstance(limit, int | float) and 0 < limit < UNLIMITED]
    return min(told, default=LONGEST)


def pad_token(folder: Path, tokenizer: Tokenizer) -> int | None:
    """The token that pads texts; None where nothing says it: then any does, since the mask leaves it out."""
    told = _json(folder / "tokenizer_config.json").get("pad_token")
    name = told.get("content") if isinstance(told, dict) else told
    token = tokenizer.token_to_id(name) if isinstance(name, str) else None
    configured = _json(folder / CONFIG).get("pad_token_id")
    return configured if token is None and isinstance(configured, int) else token


def _card(folder: Path) -> dict[str, Any]:
    """What the model card says at its head; nothing where there is no card or it cannot be read."""
    from huggingface_hub import metadata_load

    try:
        return metadata_load(folder / CARD) or {}
    except Exception:  # YAML errors; a card may be a plain text too
        return {}


def _languages(told: object) -> tuple[str, ...]:
    """The codes of a card's languages; words such as "multilingual" are none."""
    # In YAML the code of Norwegian is a no.
    entries = ["no" if entry is False else entry for entry in (told if isinstance(told, list) else [told])]
    codes = (_code(entry) for entry in entries if isinstance(entry, str))
    return tuple(dict.fromkeys(code for code in codes if re.match(CODE, code)))


def _code(told: str) -> str:
    """A code as this project writes it: zh_tw as zh-TW, sr-latn as sr-Latn."""
    first, *rest = told.replace("_", "-").split("-")
    return "-".join([first.lower(), *(part.title() if len(part) == 4 else part.upper() for part in rest)])


def _licence(card: dict[str, Any]) -> str | None:
    told = card.get("license")
    told = card.get("license_name", told) if told == "other" else told
    return str(told) if told else None


def _json(path: Path) -> dict[str, Any]:
    """A JSON object; empty where there is no file. UsageError if it is something else."""
    if not path.is_file():
        return {}
    try:
        values = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise UsageError(f"{path}: not valid JSON ({error})") from error
    if not isinstance(values, dict):
        raise UsageError(f"{path}: not a JSON object")
    return values
