"""Imports sentence encoders made elsewhere as bundles: sentence-transformers reads them, torch exports them.

Transformer, pooling, dense layers and unit length become one ONNX graph.
"""

import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import ValidationError
from tokenizers import Tokenizer, normalizers
from torch import Tensor, nn

from index.build.encoder_calibration import fit_models_on_scenes
from index.encoder.bundle import (
    CARD,
    ENCODER,
    TOKENIZER,
    Bundle,
    BundleManifest,
    Origin,
    publish_bundle,
    staging_folder,
)
from index.encoder.text_encoder import GRAPH_OUTPUT, TextEncoder
from index.errors import UsageError
from index.frozen import first_error
from index.languages import LANGUAGE_CODE, language, standard_code
from index.storage.files import entries_of, sha256
from training.export.onnx import write_graph
from training.quiet import quiet

PICKLE_FILES = ("*.bin", "*.pt", "*.ckpt", "*.h5", "*.msgpack")
VOCABULARY_FILES = ("tokenizer.json", "*.model", "vocab.txt", "vocab.json")
# Before transformers is imported: nothing is fetched, whatever a configuration names.
OFFLINE_ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
DEFAULT_MAX_TOKENS, UNLIMITED_TOKENS = 512, 1 << 20  # tokenizers without a limit state a higher number
EXAMPLE_TOKEN = 5  # any that is no padding
CALIBRATION_SEED = 0
VERSION = "1"  # of the bundle: an encoder that changes gets another name
MASK_TEST_TEXTS = (
    "A dog runs.",
    "Two children in red coats are building a snowman in front of the old school.",
)
# Least cosine of a text's vector alone to that beside a longer one.
MIN_MASK_COSINE = 0.98
CARD_TEMPLATE = Path(__file__).with_name("card.md").read_text("utf-8")


def import_encoder(
    source: Path,
    out: Path,
    *,
    name: str | None = None,
    languages: Sequence[str] = (),
    licence: str | None = None,
    prefix: str | None = None,
) -> Bundle:
    """Publish the encoder in a folder of Hugging Face layout as the bundle `out`.

    What is given besides takes the place of what its files say. Raises UsageError for missing or unknown
    parts, for pickles, and for an encoder whose vectors depend on padding.
    """
    if out.exists():
        raise UsageError(f"{out} exists: give a new folder")
    weights = _weights(source)
    card = _card(source)
    languages = tuple(languages) or _languages(card.get("language"))
    stated = card.get("license")
    stated = card.get("license_name", stated) if stated == "other" else stated
    licence = licence or (str(stated) if stated else None)
    if not languages:
        raise UsageError(f"{source}: no model card states its languages: give --languages en,de,...")
    if not licence:
        raise UsageError(f"{source}: no model card states its licence: give --licence")
    model = _open(source)
    longest = model.max_seq_length
    limit = int(longest) if longest and longest < UNLIMITED_TOKENS else DEFAULT_MAX_TOKENS
    prompt = model.prompts.get(model.default_prompt_name or "", "")
    named = name or source.resolve().name
    with staging_folder(out) as staging:
        dimension = _write_graph(model, staging / ENCODER, source)
        _write_tokenizer(model, staging / TOKENIZER, source)
        try:
            manifest = BundleManifest(
                name=re.sub(r"[^a-z0-9_-]+", "-", named.lower()).strip("-_")[:64] or "imported",
                version=VERSION,
                licence=licence,
                languages=languages,
                dimension=dimension,
                max_tokens=limit,
                punctuation=True,
                prefix=prompt if prefix is None else prefix,
                recipe=Origin(name=source.resolve().name, sha256=sha256(weights)),
                data=None,
                created=datetime.now(UTC).replace(microsecond=0),
            )
        except ValidationError as error:
            raise UsageError(f"--{first_error(error)}") from None
        encoder = TextEncoder(Bundle(staging, manifest.model_copy(update={"files": entries_of(staging)})))
        together = encoder.encode(MASK_TEST_TEXTS)
        alone = np.concatenate([encoder.encode([text]) for text in MASK_TEST_TEXTS])
        if not np.isfinite(together).all():
            raise UsageError("the encoder gives vectors that are not finite: it cannot be used")
        if (least := float((together * alone).sum(axis=1).min())) < MIN_MASK_COSINE:
            raise UsageError(f"a text's vector depends on how much it is padded (cosine {least:.3f})")
        models = fit_models_on_scenes(encoder, CALIBRATION_SEED)
        manifest = manifest.model_copy(update={"calibration": models})
        (staging / CARD).write_text(_described(manifest, source.name), "utf-8")
        return publish_bundle(staging, out, manifest)


def _weights(source: Path) -> Path:
    """The first file of weights. UsageError if the folder has none, or a pickle in place of one."""
    if not source.is_dir():
        raise UsageError(f"{source}: no such folder: give a sentence encoder's folder")
    for path in sorted(found for kind in PICKLE_FILES for found in source.rglob(kind)):
        if not any(path.parent.glob("*.safetensors")):
            raise UsageError(f"{path}: a pickle, which may run code: save it again as safetensors")
    weights = sorted(source.rglob("*.safetensors"))
    if not weights or not any(source.rglob("config.json")):
        what = "config.json" if weights else "weights"
        raise UsageError(f"{source}: no {what}: not a sentence encoder in Hugging Face layout")
    # Without any of these, transformers would make an empty tokenizer.
    if not any(found for name in VOCABULARY_FILES for found in source.rglob(name)):
        raise UsageError(f"{source}: no tokenizer: it needs one of {', '.join(VOCABULARY_FILES)}")
    return weights[0]


def _open(source: Path) -> Any:  # noqa: ANN401 (a SentenceTransformer)
    """Open an encoder, none of whose code is run."""
    os.environ.update(OFFLINE_ENVIRONMENT)
    from sentence_transformers import SentenceTransformer

    options = {"use_safetensors": True, "attn_implementation": "eager", "dtype": torch.float32}
    try:
        with quiet():
            return SentenceTransformer(
                str(source), device="cpu", local_files_only=True, model_kwargs=options
            ).eval()
    except Exception as error:  # sentence-transformers, transformers and torch raise all kinds
        raise UsageError(f"{source}: sentence-transformers cannot read it ({error})") from error


class _Encoder(nn.Module):
    """Token ids and mask (n, t) to unit vectors (n, d)."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        vectors: Tensor = self.model({"input_ids": ids, "attention_mask": mask})[GRAPH_OUTPUT]
        return nn.functional.normalize(vectors, dim=-1)


def _write_graph(model: nn.Module, file: Path, source: Path) -> int:
    """Write the graph; return the dimension of its vectors."""
    ids = torch.full((2, 6), EXAMPLE_TOKEN, dtype=torch.int64)
    mask = torch.ones_like(ids)
    mask[1, 4:] = 0
    sizes = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    encoder = _Encoder(model).eval()
    try:
        with torch.no_grad():
            dimension = encoder(ids, mask).shape[1]
        write_graph(encoder, (ids, mask), file, sizes)
    except Exception as error:  # torch raises all kinds
        raise UsageError(f"{source}: torch cannot export it ({error})") from error
    return int(dimension)


def _write_tokenizer(model: Any, path: Path, source: Path) -> None:  # noqa: ANN401
    """Write tokenizer.json, with a padding token, without truncation."""
    tokenizer: Tokenizer | None = getattr(model.tokenizer, "backend_tokenizer", None)
    if tokenizer is None or not tokenizer.get_vocab_size():
        raise UsageError(f"{source}: no tokenizer that tokenizers can load: give a tokenizer.json")
    pad = model.tokenizer.pad_token_id
    if tokenizer.padding is None and pad is not None:
        tokenizer.enable_padding(pad_id=pad, pad_token=tokenizer.id_to_token(pad) or "")
    if getattr(model[0], "do_lower_case", False):
        steps = [normalizers.Lowercase(), *([tokenizer.normalizer] if tokenizer.normalizer else [])]
        tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.no_truncation()
    path.write_text(tokenizer.to_str(pretty=False), "utf-8")


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


def _described(manifest: BundleManifest, source: str) -> str:
    return CARD_TEMPLATE.format(
        manifest=manifest,
        source=source,
        languages=", ".join(f"{language(code).name} ({code})" for code in manifest.languages),
        prefix=f"`{manifest.prefix}`" if manifest.prefix else "nothing",
        ece=manifest.calibration.sentence.ece or 0,
    )
