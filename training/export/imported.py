"""Imports sentence encoders made elsewhere: converts their transformer to ONNX, and their tokenizer."""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tokenizers import Tokenizer

from index.encoder.bundle import ENCODER, Bundle, Origin, staging_folder
from index.errors import UsageError
from index.importing.bundle import (
    Description,
    check_target,
    publish_imported,
    write_tokenizer,
)
from index.importing.graph import Head, read_graph, save_graph, with_head
from index.importing.source import TOKENIZER, SourceEncoder, pad_token, read_source
from index.storage.files import sha256

HIDDEN_OUTPUT = "last_hidden_state"
VOCABULARY_FILES = ("*.model", "vocab.txt", "vocab.json")  # from which transformers makes a tokenizer
PICKLE_FILES = ("*.bin", "*.pt", "*.ckpt", "*.h5", "*.msgpack")
# Before transformers is imported: nothing is fetched, whatever a configuration names.
OFFLINE_ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}


@dataclass(frozen=True)
class Overrides:
    """What the user states about an encoder, instead of its files; None and () mean as in the files."""

    name: str | None = None
    version: str = "1"
    languages: Sequence[str] = ()
    licence: str | None = None
    prefix: str | None = None
    pooling: str | None = None
    output: str | None = None
    max_tokens: int | None = None


def import_encoder(source: Path, out: Path, overrides: Overrides) -> Bundle:
    """Publish the encoder in a folder or ONNX file as the bundle `out`.

    A folder with an ONNX file needs no torch. Raises UsageError for missing or unknown parts and for pickles.
    """
    check_target(out)
    encoder = _with(read_source(source), overrides)
    if not encoder.languages:
        raise UsageError(f"{source}: no model card says its languages: give --languages en,de,...")
    if not encoder.licence:
        raise UsageError(f"{source}: no model card says its licence: give --licence")
    tokenizer = read_tokenizer(encoder.folder)
    with tempfile.TemporaryDirectory() as work:
        graph = encoder.graph or export_transformer(encoder.folder, Path(work))
        origin = Origin(name=encoder.name, sha256=sha256(graph))
        model = with_head(read_graph(graph), encoder.head or Head(), overrides.output, graph)
    staging = staging_folder(out)
    dimension = save_graph(model, staging / ENCODER)
    write_tokenizer(tokenizer, pad_token(encoder.folder, tokenizer), encoder.lowercase, staging)
    description = Description(
        name=encoder.name,
        version=overrides.version,
        languages=encoder.languages,
        licence=encoder.licence,
        max_tokens=encoder.max_tokens,
        prefix=encoder.prefix,
        source=source.name,
        origin=origin,
    )
    return publish_imported(staging, out, description, dimension)


def _with(encoder: SourceEncoder, overrides: Overrides) -> SourceEncoder:
    head = encoder.head or Head()
    return replace(
        encoder,
        name=overrides.name or encoder.name,
        languages=tuple(overrides.languages) or encoder.languages,
        licence=overrides.licence or encoder.licence,
        prefix=encoder.prefix if overrides.prefix is None else overrides.prefix,
        max_tokens=overrides.max_tokens or encoder.max_tokens,
        head=replace(head, pooling=overrides.pooling) if overrides.pooling else head,
    )


def read_tokenizer(folder: Path) -> Tokenizer:
    """Read tokenizer.json; without it, such as beside a SentencePiece model, let transformers make one."""
    path = folder / TOKENIZER
    # Without any of these, transformers would make an empty tokenizer.
    if not any(file for name in (TOKENIZER, *VOCABULARY_FILES) for file in folder.glob(name)):
        raise UsageError(
            f"{folder}: no tokenizer: it needs {TOKENIZER} or one of {', '.join(VOCABULARY_FILES)}"
        )
    try:
        if path.is_file():
            return Tokenizer.from_file(str(path))
        os.environ.update(OFFLINE_ENVIRONMENT)
        from transformers import AutoTokenizer

        converted = AutoTokenizer.from_pretrained(str(folder), use_fast=True, local_files_only=True)
        tokenizer: Tokenizer = converted.backend_tokenizer
    except ModuleNotFoundError:
        raise
    except Exception as error:  # tokenizers and transformers raise all kinds
        raise UsageError(
            f"{folder}: no tokenizer that can be read ({error}): it needs {TOKENIZER}"
        ) from error
    return tokenizer


def export_transformer(folder: Path, work: Path) -> Path:
    """Write the transformer of a folder as ONNX: INPUTS to the vectors of tokens; needs torch.

    Weights are read from safetensors only: UsageError if there are none.
    """
    if not any(folder.glob("*.safetensors")):
        pickles = sorted(path.name for kind in PICKLE_FILES for path in folder.glob(kind))
        what = f"weights are a pickle ({pickles[0]}), which may run code" if pickles else "no weights"
        raise UsageError(f"{folder}: {what}: save it again as safetensors")
    os.environ.update(OFFLINE_ENVIRONMENT)
    from training.export.transformer import write_transformer

    graph = work / ENCODER
    try:
        write_transformer(folder, graph, HIDDEN_OUTPUT)
    except ModuleNotFoundError:
        raise
    except Exception as error:  # transformers and torch raise all kinds
        raise UsageError(f"{folder}: its transformer cannot be exported ({error})") from error
    return graph
